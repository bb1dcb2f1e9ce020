"""What rows say of the papers' claims."""

from engine.comparing.table import Claim, Row, best_claims, claims_of, clustering_claim
from engine.config import Expansion

_K25, _ALL = "QAM (FMP, K = 25, spectral)", "QAM (FMP, no clustering)"


def row(
    aggregation: str,
    map_: float,
    reranking: str = "",
    expansion: Expansion = Expansion.NONE,
    *,
    setting: str = "",
    whitened: bool = False,
) -> Row:
    """A row whose other figures do not matter."""
    return Row(
        aggregation=aggregation,
        whitened=whitened,
        reranking=reranking,
        expansion=expansion,
        pooling="sum / sum",
        map=map_,
        ns=None,
        pointing=None,
        iou=None,
        seconds=0.0,
        bytes_per_photo=0.0,
        protocols={},
        setting=setting,
    )


def test_an_improvement_of_every_aggregation() -> None:
    rows = [row("mac", 0.5), row("gem", 0.7), row("mac", 0.6, _K25), row("gem", 0.75, _K25)]
    (claim,) = claims_of(rows)
    assert claim == Claim(
        f"{_K25} improves every aggregation", True, "better in 2 of 2, +0.0500 to +0.1000"
    )


def test_one_that_is_not_improved_is_named() -> None:
    rows = [row("mac", 0.5), row("gem", 0.7), row("mac", 0.6, _K25), row("gem", 0.7, _K25)]
    (claim,) = claims_of(rows)
    assert claim.holds is False
    assert claim.figures == f"better in 1 of 2, +0.0000 to +0.1000; least: gem + {_K25}"


def test_whitened_rows_are_compared_with_whitened_ones() -> None:
    rows = [row("mac", 0.9), row("mac", 0.5, whitened=True), row("mac", 0.6, _K25, whitened=True)]
    (claim,) = claims_of(rows)
    assert claim.holds is True


def test_expansions_are_compared_with_what_they_expand() -> None:
    rows = [
        row("mac", 0.5),
        row("mac", 0.6, _K25),
        row("mac", 0.55, _K25, Expansion.AVERAGE),
        row("mac", 0.65, _K25, Expansion.ALPHA),
    ]
    _, average, alpha = claims_of(rows)
    assert (average.claim, average.holds) == (f"QE adds to {_K25}", False)
    assert (alpha.claim, alpha.holds) == (f"αQE adds to {_K25}", True)


def test_clustering_is_judged_on_the_lists_that_both_re_ranked() -> None:
    rows = [row("mac", 0.1, _K25), row("r-mac", 0.795, _K25), row("r-mac", 0.8, _ALL)]
    claim = clustering_claim(rows)
    assert claim is not None
    assert (claim.holds, claim.figures) == (True, "mAP 0.7950 against 0.8000")
    worse = clustering_claim([row("r-mac", 0.78, _K25), row("r-mac", 0.8, _ALL)])
    assert worse is not None
    assert worse.holds is False
    assert clustering_claim(rows[:2]) is None


def test_the_best_setting_of_each_method() -> None:
    rows = [
        row("mac", 0.5, setting="320 px"),
        row("gem", 0.6, setting="320 px"),
        row("mac", 0.7, setting="512 px"),
        row("gem", 0.4, setting="512 px"),
    ]
    mac, gem = best_claims(rows, "size")
    assert mac.claim == "best size for mac: 512 px"
    assert mac.figures == "320 px 0.5000, 512 px 0.7000"
    assert gem.claim == "best size for gem: 320 px"
