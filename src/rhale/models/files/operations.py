"""What an exported program may name: operations that compute tensors from tensors, no more."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

# A name without an overload means the overload "default". Left out on purpose: what draws random
# numbers, reads or writes files, shows memory that was never written (`empty` is answered by
# `zeros`), and what trusts its arguments (`as_strided`, packed sequences, pivots, bags).
LAYERS = """
linear bilinear _trilinear embedding one_hot prelu _prelu_kernel _weight_norm
conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_transpose1d
conv_transpose2d.input convolution
lstm.input gru.input rnn_tanh.input rnn_relu.input lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
scaled_dot_product_attention
batch_norm _native_batch_norm_legit_no_training layer_norm native_layer_norm group_norm
native_group_norm instance_norm rms_norm _fused_rms_norm renorm _native_batch_norm_legit.no_stats
relu relu6 elu selu celu gelu silu mish tanh sigmoid log_sigmoid leaky_relu softplus softshrink
hardshrink hardtanh hardsigmoid hardswish threshold glu special_expit rrelu
softmax.int _softmax _safe_softmax log_softmax.int _log_softmax special_softmax special_log_softmax
dropout alpha_dropout feature_dropout feature_alpha_dropout
max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices avg_pool1d avg_pool2d
adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d adaptive_max_pool1d
adaptive_max_pool2d upsample_nearest1d upsample_nearest1d.vec upsample_nearest2d
upsample_nearest2d.vec upsample_linear1d upsample_linear1d.vec upsample_bilinear2d
upsample_bilinear2d.vec
pad constant_pad_nd reflection_pad1d replication_pad1d reflection_pad2d replication_pad2d
mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
kl_div
"""
ELEMENTS = """
add.Tensor add.Scalar sub.Tensor sub.Scalar subtract.Tensor subtract.Scalar rsub.Tensor
rsub.Scalar mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar div.Tensor div.Scalar
div.Tensor_mode div.Scalar_mode divide.Tensor divide.Scalar divide.Tensor_mode divide.Scalar_mode
true_divide.Tensor true_divide.Scalar floor_divide floor_divide.Scalar fmod.Tensor fmod.Scalar
remainder.Tensor remainder.Scalar remainder.Scalar_Tensor
pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar float_power.Tensor_Tensor
float_power.Tensor_Scalar float_power.Scalar
neg negative positive abs absolute sign sgn square sqrt rsqrt reciprocal
exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 logit
sin cos tan asin acos atan atan2 arcsin arccos arctan arctan2 sinh cosh asinh acosh atanh arcsinh
arccosh arctanh sinc deg2rad rad2deg hypot
erf erfc erfinv lgamma digamma polygamma mvlgamma igamma igammac i0
xlogy.Tensor xlogy.Scalar_Other xlogy.Scalar_Self
heaviside copysign.Tensor copysign.Scalar ldexp.Tensor lerp.Scalar lerp.Tensor addcmul addcdiv
ceil floor round round.decimals trunc fix frac maximum minimum fmax fmin
clamp clamp.Tensor clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor clip clip.Tensor
nan_to_num
special_erf special_erfc special_erfinv special_erfcx special_exp2 special_expm1 special_gammaln
special_digamma special_psi special_polygamma special_gammainc special_gammaincc special_i0
special_i0e special_i1 special_i1e special_log1p special_logit special_log_ndtr special_ndtr
special_ndtri special_sinc special_entr special_round special_bessel_j0 special_bessel_j1
special_xlogy special_xlogy.other_scalar special_xlogy.self_scalar
special_xlog1py special_xlog1py.other_scalar special_xlog1py.self_scalar
special_zeta special_zeta.other_scalar special_zeta.self_scalar
real imag complex polar angle conj _conj conj_physical resolve_conj resolve_neg view_as_real
view_as_complex
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor
gt.Scalar ge.Tensor ge.Scalar not_equal.Tensor not_equal.Scalar less.Tensor less.Scalar
less_equal.Tensor less_equal.Scalar greater.Tensor greater.Scalar greater_equal.Tensor
greater_equal.Scalar
isclose isfinite isinf isnan isneginf isposinf isreal signbit
isin.Tensor_Tensor isin.Tensor_Scalar isin.Scalar_Tensor
logical_and logical_or logical_not logical_xor bitwise_not
bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor
bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor
bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor
bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar
bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar
where.self where.ScalarOther where.ScalarSelf where.Scalar where
"""
REDUCTIONS = """
sum sum.dim_IntList nansum mean mean.dim nanmean prod prod.dim_int
std std.dim std.correction var var.dim var.correction
std_mean std_mean.dim std_mean.correction var_mean var_mean.dim var_mean.correction
amax amin aminmax max max.dim max.other min min.dim min.other argmax argmin
median median.dim nanmedian nanmedian.dim mode quantile quantile.scalar nanquantile
nanquantile.scalar kthvalue topk sort sort.stable argsort argsort.stable msort
any any.dim any.dims all all.dim all.dims count_nonzero count_nonzero.dim_IntList
cumsum cumprod cummax cummin logcumsumexp logsumexp special_logsumexp diff
trapezoid.x trapezoid.dx trapz.x trapz.dx cumulative_trapezoid.x cumulative_trapezoid.dx
norm.Scalar norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype linalg_vector_norm
cosine_similarity pairwise_distance cdist _cdist_forward dist
"""
ALGEBRA = """
mm bmm matmul mv dot vdot inner outer ger addmm addmv addbmm baddbmm addr einsum tensordot kron
trace diagonal diag diag_embed diagflat tril triu cross linalg_cross linalg_vecdot
linalg_diagonal linalg_multi_dot
det logdet slogdet inverse cholesky cholesky_solve triangular_solve matrix_exp matrix_power
linalg_inv linalg_inv_ex linalg_det _linalg_det linalg_slogdet _linalg_slogdet linalg_solve
linalg_solve_ex _linalg_solve_ex linalg_solve_triangular linalg_cholesky linalg_cholesky_ex
linalg_qr linalg_svd _linalg_svd linalg_svdvals linalg_eigh _linalg_eigh linalg_eigvalsh
linalg_pinv linalg_pinv.atol_rtol_float linalg_pinv.atol_rtol_tensor linalg_pinv.rcond_tensor
linalg_matrix_exp linalg_matrix_power linalg_matrix_norm linalg_matrix_norm.str_ord linalg_norm
linalg_norm.ord_str cov corrcoef vander
fft_fft fft_ifft fft_rfft fft_irfft fft_fftfreq fft_rfftfreq _fft_r2c _fft_c2c
"""
SHAPES = """
view view.dtype view_as _unsafe_view reshape reshape_as flatten.using_ints unflatten.int ravel
permute transpose.int t numpy_T mT mH adjoint swapaxes swapdims movedim.int movedim.intlist
moveaxis.int moveaxis.intlist
unsqueeze squeeze squeeze.dim squeeze.dims expand expand_as broadcast_to broadcast_tensors
repeat tile repeat_interleave.self_int flip fliplr flipud rot90 roll
cat concat concatenate stack hstack vstack dstack column_stack row_stack block_diag
split.Tensor split.sizes split_with_sizes chunk tensor_split.sections tensor_split.indices
hsplit.int hsplit.array vsplit.int vsplit.array unbind.int
select.int slice.Tensor narrow unfold atleast_1d atleast_2d atleast_3d
atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence meshgrid meshgrid.indexing
alias contiguous clone copy detach lift_fresh lift_fresh_copy
gather take take_along_dim index.Tensor index_select index_add index_copy index_fill.int_Tensor
index_fill.int_Scalar index_put masked_fill.Scalar masked_fill.Tensor masked_scatter masked_select
scatter.value scatter.src scatter.reduce scatter.value_reduce scatter_add scatter_reduce.two
select_scatter slice_scatter diagonal_scatter nonzero argwhere
bucketize.Tensor bucketize.Scalar searchsorted.Tensor searchsorted.Scalar
zeros zeros_like ones ones_like full full_like new_zeros new_ones new_full scalar_tensor
arange arange.start arange.start_step linspace logspace eye eye.m tril_indices triu_indices
hann_window hann_window.periodic
to.device to.dtype to.other to.dtype_layout _to_copy type_as
sym_size.int sym_numel item _local_scalar_dense _assert_async _assert_async.msg
"""
CHANGES = """
relu_ relu6_ elu_ selu_ celu_ silu_ mish_ tanh_ sigmoid_ leaky_relu_ hardtanh_ hardsigmoid_
hardswish_ threshold_ dropout_
add_.Tensor add_.Scalar sub_.Tensor sub_.Scalar mul_.Tensor mul_.Scalar div_.Tensor div_.Scalar
div_.Tensor_mode floor_divide_.Tensor floor_divide_.Scalar remainder_.Tensor remainder_.Scalar
pow_.Tensor pow_.Scalar neg_ abs_ sign_ square_ sqrt_ rsqrt_ reciprocal_
exp_ expm1_ log_ log1p_ sin_ cos_ erf_ floor_ ceil_ round_ trunc_ nan_to_num_
clamp_ clamp_.Tensor clamp_min_ clamp_max_ clip_ addcmul_ addcdiv_ lerp_.Scalar lerp_.Tensor
logical_and_ logical_or_ logical_not_ bitwise_and_.Tensor bitwise_or_.Tensor
copy_ fill_.Scalar fill_.Tensor zero_ masked_fill_.Scalar masked_fill_.Tensor index_put_
index_fill_.int_Scalar index_fill_.int_Tensor index_add_ index_copy_ scatter_.value scatter_.src
scatter_add_ detach_
"""


def _with_overloads(*texts: str) -> frozenset[str]:
    names = " ".join(texts).split()
    return frozenset(n if "." in n else f"{n}.default" for n in names)


FUNCTIONS = _with_overloads(LAYERS, ELEMENTS, REDUCTIONS, ALGEBRA, SHAPES)
IN_PLACE = _with_overloads(CHANGES)

# Answered by another operation, by name: what Python's signs are called, and memory that is new.
INSTEAD = {
    **{f"__{sign}__.{kind}": f"bitwise_{sign}.{kind}" for sign in ("and", "or", "xor")
       for kind in ("Tensor", "Scalar")},
    "__lshift__.Tensor": "bitwise_left_shift.Tensor",
    "__lshift__.Scalar": "bitwise_left_shift.Tensor_Scalar",
    "__rshift__.Tensor": "bitwise_right_shift.Tensor",
    "__rshift__.Scalar": "bitwise_right_shift.Tensor_Scalar",
    "empty.memory_format": "zeros.default",
    "empty_like.default": "zeros_like.default",
    "new_empty.default": "new_zeros.default",
}  # fmt: skip

# What a program tells about itself, to be believed or not: nothing is computed.
NOTES = frozenset(
    f"torch.ops.aten.{name}.default"
    for name in ("_assert_tensor_metadata", "sym_constrain_range", "sym_constrain_range_for_size")
)

# One of these arguments must have this value: no dice, no statistics that are written back, no
# size that follows from values.
CONDITIONS: dict[str, tuple[tuple[str, Any], ...]] = {
    **{
        f"{name}.default": (("train", False), ("p", 0.0))
        for name in (
            *("dropout", "dropout_", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"),
        )
    },
    **{
        f"{name}.input": (("train", False), ("dropout", 0.0))
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    },
    "rrelu.default": (("training", False),),
    "scaled_dot_product_attention.default": (("dropout_p", 0.0),),
    "batch_norm.default": (("training", False), ("running_mean", None)),
    "instance_norm.default": (("use_input_stats", False), ("running_mean", None)),
    "searchsorted.Tensor": (("sorter", None),),
    "searchsorted.Scalar": (("sorter", None),),
}

BRANCH, GRAD_MODE = (
    "torch.ops.higher_order.cond",
    "torch.ops.higher_order.wrap_with_set_grad_enabled",
)
LARGEST = 2**63 - 1


def is_listed(name: str) -> bool:
    """Tell whether an operation of aten, with its overload, may be run.

    Examples
    --------
    >>> is_listed("relu.default"), is_listed("relu_.default"), is_listed("from_file.default")
    (True, True, False)
    """
    return name in FUNCTIONS or name in IN_PLACE or name in INSTEAD


def _power(base: float, exponent: float) -> Any:
    """A power that fits into 64 bits, or is a float."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent * base.bit_length() > 128:
        msg = f"a size of {base} to the power {exponent}"
        raise OverflowError(msg)
    return base**exponent


def _demand(condition: object, message: object = "") -> None:
    if not condition:
        msg = f"the program's own check failed: {message}"
        raise RuntimeError(msg)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{
        f"_operator.{name}": getattr(operator, name)
        for name in (
            *("eq", "ne", "le", "ge", "lt", "gt", "neg", "pos", "abs", "add", "sub", "mul"),
            *("floordiv", "truediv", "mod", "and_", "or_", "not_"),
        )
    },
    "_operator.pow": _power,
    **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "trunc", "sqrt")},
    "torch.sym_int": int,
    "torch.sym_float": float,
    "torch.sym_max": max,
    "torch.sym_min": min,
    "torch.sym_not": operator.not_,
    "torch.sym_sqrt": math.sqrt,
    "torch.sym_ite": lambda condition, one, other: one if condition else other,
    "torch.ops.aten._assert_scalar.default": _demand,
}


def calculate(target: str, numbers: list[Any]) -> Any:
    """Calculate with sizes: plain numbers, none of them beyond 64 bits.

    Examples
    --------
    >>> calculate("_operator.mul", [3, 4])
    12
    """
    texts = numbers[1:] if target.endswith("_assert_scalar.default") else []
    if not all(isinstance(n, (int, float)) for n in numbers[: len(numbers) - len(texts)]):
        msg = f"{target} was asked of something other than numbers"
        raise TypeError(msg)
    found = ARITHMETIC[target](*numbers)
    if isinstance(found, int) and abs(found) > LARGEST:
        msg = f"a size of {target} is beyond 64 bits"
        raise OverflowError(msg)
    return found
