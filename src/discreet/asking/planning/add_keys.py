"""The pass that decides how private keys are shown: by a draw of their own, or by that of a count."""

from dataclasses import replace

from discreet.asking.planning.choose_noise import largest_epsilon
from discreet.asking.planning.contribution import rows_counted
from discreet.asking.planning.draft import Draft, SetDraft, Wanted
from discreet.asking.planning.exact import ExactPlan, RowCount, UnitCount
from discreet.asking.planning.price import Share
from discreet.asking.planning.stages import CountAndShow, SelectKeys, ShowKeys
from discreet.kernel.losses import Relation, pure
from discreet.kernel.mechanisms import CountedKeys, KeySelection
from discreet.kernel.mechanisms.key_selection import keys_moved


def add_keys(draft: Draft) -> Draft:
    """Put a stage that shows keys first in every set whose groups are found in the data."""
    return replace(
        draft,
        sets=tuple(
            each
            if each.keys_share is None
            else replace(each, stages=(_show(draft, part, each, each.keys_share),))
            for part, each in enumerate(draft.sets)
        ),
    )


def _show(draft: Draft, part: int, each: SetDraft, share: Share) -> ShowKeys:
    base, relation = each.exact.plans[0], draft.relation
    counted = _counted(draft, each)
    if counted is None:
        assert each.exact.units is not None
        (units,) = each.exact.units.measures
        return select_keys(part, base, share, relation, units)
    assert counted.position is not None
    assert share.epsilon is not None
    assert counted.share.epsilon is not None
    mechanism = CountedKeys(
        epsilon=share.epsilon + counted.share.epsilon,
        delta=share.delta,
        sensitivity=rows_counted(base, base.measures[counted.position]),
        max_groups=base.max_groups,
        relation=relation,
    )
    return CountAndShow(part, counted.column, base, mechanism, counted.position)


def _counted(draft: Draft, each: SetDraft) -> Wanted | None:
    """Return the number that also shows the keys: how many units, or else how many rows each key has.

    It must count every holder of the key, or keys would be left out for another reason. Accounts that add up
    something other than epsilon and delta do better by two draws.
    """
    if not draft.adds_epsilons:
        return None
    measures = each.exact.plans[0].measures
    wanted = {one.position: one for one in each.wanted if one.position is not None}
    counts = [measures.index(count) for count in (UnitCount(), RowCount()) if count in measures]
    return next((wanted[position] for position in counts if position in wanted), None)


def select_keys(part: int, plan: ExactPlan, share: Share, relation: Relation, units: int = 0) -> SelectKeys:
    """Return the stage that shows keys by how many units hold each: measure `units` of the plan."""
    return SelectKeys(part, None, plan, _selection(plan.max_groups, share, relation), units)


def _selection(max_groups: int, share: Share, relation: Relation) -> KeySelection:
    """Return the selection of keys: a unit moves the counts of its keys, and under replace of others as
    many."""
    moved = keys_moved(max_groups, relation)
    epsilon = largest_epsilon(share, lambda each: moved * pure(epsilon=each / moved, relation=relation))
    return KeySelection(epsilon=epsilon, delta=share.delta, max_groups=max_groups, relation=relation)
