"""The network of the paper's largest experiment, untrained: its slopes cost the same."""

from itertools import pairwise

import torch

WIDTHS = (8, 256, 128, 36, 1)


def network(device="cpu"):
    torch.manual_seed(0)
    layers = []
    for n_in, n_out in pairwise(WIDTHS):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.SiLU()]
    return torch.nn.Sequential(*layers[:-1]).eval().to(device)
