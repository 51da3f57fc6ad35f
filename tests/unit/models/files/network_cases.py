"""Networks as people write them for tables, one for each family of operations."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

N_COLUMNS = 6


class Written(nn.Module):
    """A module from a function of itself and its rows, with parts by name."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, (nn.Module, nn.Parameter)):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, rows):
        return self.function(self, rows)


def perceptron():
    return nn.Sequential(nn.Linear(N_COLUMNS, 8), nn.ReLU(), nn.Linear(8, 2), nn.Softmax(1))


def activations():
    layers = [
        *(nn.ReLU(), nn.ELU(), nn.SELU(), nn.CELU(), nn.GELU(), nn.GELU("tanh"), nn.SiLU()),
        *(nn.Mish(), nn.Tanh(), nn.Sigmoid(), nn.LogSigmoid(), nn.LeakyReLU(0.1), nn.PReLU(8)),
        *(nn.Softplus(), nn.Softsign(), nn.Softshrink(0.1), nn.Hardshrink(0.1), nn.Tanhshrink()),
        *(nn.Hardtanh(), nn.ReLU6(), nn.Hardsigmoid(), nn.Hardswish(), nn.Threshold(0.1, 0.0)),
        *(nn.RReLU(), nn.Softmax(-1), nn.LogSoftmax(-1), nn.Softmin(-1)),
    ]
    head = nn.Linear(8 * len(layers), 1)
    each = nn.ModuleList(layers)
    return Written(
        lambda s, x: s.head(torch.cat([one(s.body(x)) for one in s.each], 1)),
        body=nn.Linear(N_COLUMNS, 8), each=each, head=head,
    )  # fmt: skip


def activations_in_place():
    kinds = [nn.ReLU, nn.ELU, nn.SELU, nn.CELU, nn.SiLU, nn.Mish, nn.LeakyReLU, nn.Hardtanh]
    kinds += [nn.ReLU6, nn.Hardsigmoid, nn.Hardswish, nn.Dropout]
    layers = [*(kind(inplace=True) for kind in kinds), nn.Threshold(0.1, 0.0, inplace=True)]
    return Written(
        lambda s, x: s.head(torch.cat([one(s.body(x)) for one in s.each], 1)),
        body=nn.Linear(N_COLUMNS, 8), each=nn.ModuleList(layers),
        head=nn.Linear(8 * len(layers), 1),
    )  # fmt: skip


def rows_changed_in_place():
    return nn.Sequential(nn.ReLU(inplace=True), nn.Linear(N_COLUMNS, 1))


def normalisations():
    return nn.Sequential(
        *(nn.BatchNorm1d(N_COLUMNS), nn.Linear(N_COLUMNS, 8), nn.LayerNorm(8), nn.RMSNorm(8)),
        *(nn.GroupNorm(2, 8), nn.Unflatten(1, (2, 4)), nn.InstanceNorm1d(2, affine=True)),
        *(nn.Flatten(), nn.BatchNorm1d(8, affine=False), nn.Linear(8, 1)),
    )


def dropouts():
    layers = [nn.Dropout(0.3), nn.AlphaDropout(0.3), nn.FeatureAlphaDropout(0.3), nn.Identity()]
    return nn.Sequential(nn.Linear(N_COLUMNS, 4), *layers, nn.GLU(), nn.Linear(2, 1))


def residual():
    block = nn.Sequential(
        *(nn.BatchNorm1d(N_COLUMNS), nn.Linear(N_COLUMNS, 8), nn.ReLU(inplace=True)),
        *(nn.Dropout(0.1), nn.Linear(8, N_COLUMNS), nn.Dropout(0.1)),
    )
    return Written(lambda s, x: s.head(x + s.block(x)), block=block, head=nn.Linear(N_COLUMNS, 1))


class Categories(nn.Module):
    """Codes in the first two columns, numbers in the others."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(5, 3), nn.Embedding(7, 2, padding_idx=0)])
        self.normal, self.head = nn.BatchNorm1d(4), nn.Linear(9 + 5, 1)

    def forward(self, rows):
        codes = rows[:, :2].abs().long().clamp(0, 4)
        found = [table(codes[:, k]) for k, table in enumerate(self.tables)]
        one_hot = F.one_hot(codes[:, 0], 5).to(rows.dtype)
        return self.head(torch.cat([*found, self.normal(rows[:, 2:]), one_hot], 1)).squeeze(1)


class FeatureTransformer(nn.Module):
    """A token for each column, and one that answers."""

    def __init__(self, *, norm_first=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(N_COLUMNS, 8))
        self.bias = nn.Parameter(torch.randn(N_COLUMNS, 8))
        self.answer = nn.Parameter(torch.randn(1, 1, 8))
        layer = nn.TransformerEncoderLayer(
            8, 2, 16, 0.1, activation="gelu", batch_first=True, norm_first=norm_first
        )
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 2)

    def forward(self, rows):
        tokens = rows.unsqueeze(-1) * self.weight + self.bias
        tokens = torch.cat([self.answer.expand(rows.shape[0], -1, -1), tokens], 1)
        return self.head(F.relu(self.body(tokens)[:, 0]))


def attention():
    def answer(s, x):
        tokens = s.body(x.unsqueeze(-1))
        found, _ = s.attend(tokens, tokens, tokens)
        plain = F.scaled_dot_product_attention(tokens, tokens, tokens, attn_mask=s.mask)
        return s.head((found + plain).mean(1))

    return Written(
        answer, body=nn.Linear(1, 8), attend=nn.MultiheadAttention(8, 2, batch_first=True),
        mask=torch.ones(N_COLUMNS, N_COLUMNS).tril().bool(), head=nn.Linear(8, 1),
    )  # fmt: skip


def convolutions():
    return nn.Sequential(
        *(nn.Unflatten(1, (1, N_COLUMNS)), nn.Conv1d(1, 3, 3, padding=1), nn.ReLU()),
        *(
            nn.Conv1d(3, 3, 3, padding="same"),
            nn.Conv1d(3, 3, 3, padding=1, padding_mode="reflect"),
        ),
        *(nn.ConvTranspose1d(3, 2, 3), nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(2)),
        *(nn.ConstantPad1d(1, 0.5), nn.Upsample(scale_factor=2, mode="linear"), nn.Flatten()),
        nn.Linear(16, 1),
    )


def recurrent(kind):
    def answer(s, x):
        found, _ = s.body(x.unsqueeze(-1))
        return s.head(found[:, -1])

    return Written(answer, body=kind(1, 4, batch_first=True), head=nn.Linear(4, 1))


def cells():
    return Written(
        lambda s, x: s.head(torch.cat([s.one(x)[0], s.other(x)], 1)),
        one=nn.LSTMCell(N_COLUMNS, 3), other=nn.GRUCell(N_COLUMNS, 3), head=nn.Linear(6, 1),
    )  # fmt: skip


def encodings():
    def answer(s, x):
        waves = 2 * math.pi * s.frequencies * x[..., None]
        low, high = s.edges[:-1], s.edges[1:]
        ramps = ((x[..., None] - low) / (high - low)).clamp(0, 1)
        places = s.table(torch.bucketize(x, s.edges)) * torch.searchsorted(s.edges, x)[..., None]
        parts = [torch.cos(waves), torch.sin(waves), ramps, places]
        return s.head(torch.cat(parts, -1).flatten(1))

    return Written(
        answer, frequencies=nn.Parameter(torch.randn(N_COLUMNS, 3)),
        edges=torch.linspace(-2, 2, 5), table=nn.Embedding(6, 2), head=nn.Linear(12 * N_COLUMNS, 1),
    )  # fmt: skip


def interactions():
    def answer(s, x):
        pairs = 0.5 * ((x @ s.factors).pow(2) - (x**2) @ (s.factors**2)).sum(1)
        crossed = x * s.cross(x) + x
        mixed = torch.einsum("bi,ijk->bjk", x, s.cube).sum((1, 2))
        near = torch.exp(-(torch.cdist(x, s.centres) ** 2)).sum(1)
        experts = torch.stack([s.one(x), s.other(x)], 1) * s.gate(x).softmax(-1).unsqueeze(-1)
        return pairs + crossed.sum(1) + mixed + near + experts.sum((1, 2)) + s.two(x, x).sum(1)

    return Written(
        answer, factors=nn.Parameter(torch.randn(N_COLUMNS, 3)), cross=nn.Linear(N_COLUMNS, N_COLUMNS),
        cube=nn.Parameter(torch.randn(N_COLUMNS, 3, 2)), centres=torch.randn(4, N_COLUMNS),
        one=nn.Linear(N_COLUMNS, 2), other=nn.Linear(N_COLUMNS, 2), gate=nn.Linear(N_COLUMNS, 2),
        two=nn.Bilinear(N_COLUMNS, N_COLUMNS, 2),
    )  # fmt: skip


def gathering():
    def answer(s, x):
        n = x.shape[0]
        places = s.places.expand(n, -1)
        base = torch.zeros_like(x)
        found = base.scatter_add(1, places, x) + base.scatter(1, places[:, :2], 0.5)
        found = (
            found + base.scatter_reduce(1, places, x, "amax") + base.index_add(1, s.places[0], x)
        )
        found = found + x.gather(1, places) + x.gather(1, x.argsort(1))
        chosen = x[:, [0, 2]] * x[:, s.places[0, :2]] + x.index_select(1, s.places[0, 2:4])
        best = x.topk(2, 1).values + x.sort(1, descending=True).values[:, :2]
        return torch.cat([found, chosen, best], 1)

    return Written(answer, places=torch.tensor([[1, 3, 0, 0, 1, 5]]))


def choosing():
    def answer(s, x):
        one = torch.where(x > 0, x, 0.1 * x).sum(1) + torch.where(torch.isnan(x), 0.0, x).mean(1)
        two = x.masked_fill(x < 0, float("-inf")).softmax(-1).nan_to_num().amax(1)
        both = ((x > 0) & (x < 1)) | ~(x == 2) ^ (x != 3)
        signs = torch.logical_and(x > 0, x.isfinite()) | torch.isin(x.long(), s.known)
        bits = (x.long() & 3) + (x.long() << 1) + (x.long() >> 1)
        counts = both.to(x.dtype) + signs.to(x.dtype) + bits.to(x.dtype)
        return one + two + counts.sum(1) + x.clamp(min=-1).amin(1)

    return Written(answer, known=torch.tensor([1, 2]))


def assignments():
    def answer(s, x):
        found = x.clone()
        found[:, 0] = found[:, 0] * 2
        found[:, 1] = 0
        found[:, 2:4] += 1
        found[found < 0] = 0.1
        fresh = torch.empty(x.shape[0], 2, dtype=x.dtype)
        fresh.fill_(1)
        return found * s.scale + fresh.sum(1, keepdim=True)

    return Written(answer, scale=torch.full((N_COLUMNS,), 0.5))


def assignments_to_rows():
    def answer(_, x):
        x[:, 0] = x[:, 0].exp()
        x += 1
        return x.sum(1)

    return Written(answer)


def reductions():
    def answer(_, x):
        parts = [
            *(x.sum(1), x.mean(1), x.std(1), x.var(1), x.amax(1), x.max(1).values, x.prod(1)),
            *(x.norm(dim=1), x.logsumexp(1), x.median(1).values, x.cumsum(1)[:, -1]),
            *(x.quantile(0.3, 1), x.argmax(1).to(x.dtype), (x > 0).any(1).to(x.dtype)),
            *(torch.linalg.vector_norm(x, dim=1), x.cumprod(1)[:, -1], x.diff(dim=1)[:, 0]),
            *(torch.var_mean(x, 1)[0], torch.aminmax(x, dim=1)[0], x.nansum(1)),
        ]
        return torch.stack(parts, 1)

    return Written(answer)


def elementary():
    def answer(_, x):
        size = x.abs() + 1
        parts = [
            *(x.exp(), x.expm1(), size.log(), size.log1p(), size.log2(), x.sin(), x.cos(), x.tan()),
            *(x.sinh(), x.cosh(), x.tanh(), x.atan(), x.erf(), x.erfc(), size.lgamma(), x.sign()),
            *(x.floor(), x.ceil(), x.round(), x.trunc(), size.rsqrt(), size.reciprocal()),
            *(torch.fmod(x, 2.0), torch.remainder(x, 2.0), torch.maximum(x, -x), x.square()),
            *(torch.logaddexp(x, size), torch.lerp(x, -x, 0.3), torch.hypot(x, size), 2 - x),
            *(1 / size, size**1.5, 2**x, torch.special.ndtr(x), torch.sinc(x), x.clip(0, 1)),
            *(torch.div(x, 2, rounding_mode="floor"), torch.addcmul(x, x, x), torch.atan2(x, size)),
        ]
        return torch.stack(parts).sum(0)

    return Written(answer)


def shapes():
    def answer(_, x):
        n = x.shape[0]
        parts = [
            *(x.view(n, 2, 3).permute(0, 2, 1).reshape(n, -1), torch.stack(x.unbind(1), 1)),
            *(torch.cat(x.chunk(2, 1), 1), torch.cat(x.split([2, 4], 1), 1), x.flip(1).roll(1, 1)),
            *(x.unsqueeze(1).expand(-1, 2, -1).mean(1), x.repeat(1, 2)[:, :6], x.T.t()),
            *(F.pad(x, (1, 1))[:, 1:-1], x.narrow(1, 0, 6), torch.tile(x, (1, 2))[:, 6:]),
            *(x.repeat_interleave(2, 1)[:, ::2], x.unfold(1, 2, 2).flatten(1), x.movedim(0, 1).mT),
            *(torch.hstack([x[:, :3], x[:, 3:]]), torch.broadcast_to(x[:, :1], (n, 6)), x.triu()),
            *(x[..., None].squeeze(-1), torch.column_stack(torch.split(x, 2, dim=1)), x[:, :6]),
        ]
        return torch.stack(parts).sum(0) / n

    return Written(answer)


def constants():
    def answer(_, x):
        n = x.shape[0]
        own = {"dtype": x.dtype, "device": x.device}
        rows = torch.zeros(n, 6, **own) + torch.ones(n, 1, **own) + torch.full((n, 6), 0.5, **own)
        like = torch.zeros_like(x) + torch.ones_like(x) + torch.full_like(x, 2) + x.new_zeros(n, 6)
        line = torch.arange(6, **own) + torch.linspace(0, 1, 6, **own) + torch.eye(6, **own)[0]
        told = torch.tensor([1.0, 2, 3, 4, 5, 6], **own) + torch.ones(6, 6, **own).tril()[0]
        whole = x.to(torch.int64).to(x.dtype) + x.double().to(x.dtype) + x.bool().to(x.dtype)
        return x + rows + like + line + told + whole + x.detach()

    return Written(answer)


def algebra():
    def answer(s, x):
        spread = s.matrix @ s.matrix.T + s.unit
        parts = [
            *(x @ s.matrix, torch.linalg.solve(spread, x.T).T, x @ torch.linalg.cholesky(spread)),
            *(
                x @ torch.linalg.inv(spread),
                torch.addmm(s.line, x, s.matrix),
                torch.outer(x[:, 0], s.line),
            ),
            *(
                torch.diag_embed(x)[:, 0],
                torch.tensordot(x, s.matrix, 1),
                x * torch.linalg.det(spread),
            ),
            *(x * torch.linalg.eigh(spread)[0], x * torch.linalg.svd(spread)[1]),
            *(F.normalize(x, dim=1), x * F.cosine_similarity(x, s.line[None])[:, None]),
            torch.fft.rfft(x).abs().repeat(1, 2)[:, :6],
        ]
        return torch.stack(parts).sum(0)

    return Written(
        answer,
        matrix=torch.eye(6) * 2 + torch.randn(6, 6) * 0.1,
        unit=torch.eye(6),
        line=torch.randn(6),
    )


def without_slopes():
    def answer(s, x):
        with torch.no_grad():
            fixed = s.body(x)
        return fixed + s.other(x)

    return Written(answer, body=nn.Linear(N_COLUMNS, 3), other=nn.Linear(N_COLUMNS, 3))


def sizes():
    def answer(_, x):
        n = x.shape[0]
        return x.reshape(n * 2, 3).reshape(n * 2 // 2, -1) / n + x.numel() + max(n, 3) + n**2

    return Written(answer)


def values():
    def answer(s, x):
        return (
            x * s.weight.sum().item() + torch.nonzero(s.weight).sum() + s.weight[s.weight > 0].sum()
        )

    return Written(answer, weight=torch.tensor([0.0, 1.0, 2.0]))


def shared_weights():
    one = nn.Linear(N_COLUMNS, N_COLUMNS)
    other = nn.Linear(N_COLUMNS, N_COLUMNS)
    other.weight = one.weight
    turned = torch.randn(4, N_COLUMNS).T
    return Written(
        lambda s, x: s.other(s.one(x)) @ s.turned + s.many + s.single,
        one=one, other=other, turned=turned, many=torch.arange(4.0).expand(3, 4)[1:2],
        single=torch.tensor(2.0), empty=torch.zeros(0, 3),
    )  # fmt: skip


def weight_norm():
    return nn.utils.parametrizations.weight_norm(nn.Linear(N_COLUMNS, 2))


NETWORKS = {
    "LSTM": lambda: recurrent(nn.LSTM),
    "GRU": lambda: recurrent(nn.GRU),
    "RNN": lambda: recurrent(nn.RNN),
    "categories": Categories,
    "feature transformer": FeatureTransformer,
    "feature transformer, norm last": lambda: FeatureTransformer(norm_first=False),
    **{
        make.__name__: make
        for make in (
            *(perceptron, activations, activations_in_place, rows_changed_in_place),
            *(normalisations, dropouts, residual, attention, convolutions, cells, encodings),
            *(interactions, gathering, choosing, assignments, assignments_to_rows, reductions),
            *(elementary, shapes, constants, algebra, without_slopes, sizes, values),
            *(shared_weights, weight_norm),
        )
    },
}
