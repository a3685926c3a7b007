"""Dropout that is drawn from a generator that is handed in."""

import torch

LEVELS = 256


def dropout(block: torch.Tensor, rate: float, generator: torch.Generator | None) -> torch.Tensor:
    """Set each entry to zero with probability ``rate`` and scale the others so that the mean stays.

    An entry takes one random byte, eight of which come from one draw of the generator: a draw for each entry would
    take longer than the rest of a training step. So the rate is rounded to a multiple of 1 / 256.

    Args:
        block: Of any shape.
        rate: Below 1.
        generator: On the device of the block; without one nothing is dropped, as in evaluation.
    """
    threshold = min(round(rate * LEVELS), LEVELS - 1)
    if generator is None or threshold == 0:
        return block
    draws = torch.empty(-(-block.numel() // 8), dtype=torch.int64, device=block.device)
    draws.random_(-(2**63), None, generator=generator)  # all 64 bits
    kept = draws.view(torch.uint8)[: block.numel()].view(block.shape) >= threshold
    return block * kept.to(block.dtype).mul_(LEVELS / (LEVELS - threshold))
