"""Which objects names may stand for."""

from __future__ import annotations

import random

from s2sad.analysis.provenance import Provenance


def flow(*holders: str) -> Provenance:
    return Provenance(lambda name: name in holders or name.startswith("<"))


def marks(made: Provenance) -> dict[str, set[str]]:
    return made.marks({"<caller>p"}, {"<outside>G"})


def test_objects_go_one_way() -> None:
    made = flow()
    made.hand("<caller>p", "p")
    made.hand("p", "y")
    made.hand("a", "y")
    assert made.groups() == [{"p", "y", "a", "<caller>p"}]
    assert marks(made) == {
        "<caller>p": {"<caller>p"},
        "p": {"<caller>p"},
        "y": {"<caller>p"},
        "<outside>G": {"<outside>G"},
    }


def test_what_is_put_into_a_container_is_found_under_its_other_names() -> None:
    made = flow("c", "d")
    made.hand("c", "d")
    made.hand("<caller>p", "p")
    made.hand("p", "d")
    made.hand("c", "t")
    assert "<caller>p" in marks(made)["t"]


def test_what_the_module_holds_is_its_own_under_all_names() -> None:
    made = flow("c")
    made.hand("a", "view")
    made.hand("view", "c")
    made.hand("c", "<outside>G")
    assert all("<outside>G" in marks(made)[name] for name in ("a", "view", "c"))


def test_a_container_of_an_argument_makes_none_of_the_rest_one() -> None:
    made = flow("c")
    made.hand("<caller>p", "p")
    made.hand("p", "c")
    made.hand("a", "c")
    assert "a" not in marks(made)


def test_one_object_under_two_names() -> None:
    made = flow()
    made.hand("<caller>p", "p")
    made.mix("p", "q")
    assert "<caller>p" in marks(made)["q"]
    made.link("q", "r")
    assert "r" not in marks(made)


def test_marks_are_the_least_that_follow_from_what_is_handed_on() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        names = [*(f"n{i}" for i in range(draw.randint(2, 10))), "<caller>p", "<caller>q", "<outside>G", "<outside>H"]
        made = flow(*(name for name in names if draw.random() < 0.5))
        for _ in range(draw.randint(1, 25)):
            getattr(made, draw.choice(["hand", "link", "mix"]))(draw.choice(names), draw.choice(names))
        passing, lasting = ([n for n in names if n.startswith(mark)] for mark in ("<caller>", "<outside>"))
        wanted = {mark: {mark} for mark in (*passing, *lasting)}
        while True:
            before = sum(map(len, wanted.values()))
            for source, targets in made.forth.items():
                for target in targets:
                    wanted.setdefault(target, set()).update(wanted.get(source, ()))
            for source, target in made.held:
                whole = next(group for group in made.groups() if source in group)
                for name in whole:
                    wanted.setdefault(name, set()).update(wanted.get(target, set()).intersection(lasting))
            if sum(map(len, wanted.values())) == before:
                break
        assert made.marks(passing, lasting) == {name: marks for name, marks in wanted.items() if marks}, seed
