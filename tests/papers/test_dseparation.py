"""Tables 2 and 3 of MS-VAE, appendix K, as fractions."""

from fractions import Fraction as F
from functools import partial

from unbraid.papers.studies.dseparation import World, conditional, independent, joint, main


def test_probabilities_sum_to_one() -> None:
    assert sum(joint().values()) == 1


def test_table_2_given_x_only() -> None:
    def seen(world) -> bool:
        return world.x == 4

    assert conditional(seen, "c", "z") == {
        (1, 0): 0, (1, 1): F(3, 8), (2, 0): F(1, 4), (2, 1): F(3, 8), (3, 0): 0, (3, 1): 0,
    }  # fmt: skip
    assert conditional(seen, "c") == {(1,): F(3, 8), (2,): F(5, 8), (3,): 0}
    assert conditional(seen, "z") == {(0,): F(1, 4), (1,): F(3, 4)}
    assert not independent(seen)


def test_table_3_given_x_and_y() -> None:
    def seen(world) -> bool:
        return world.x == 4 and world.y == 1

    assert conditional(seen, "c", "z") == {
        (1, 0): 0, (1, 1): 1, (2, 0): 0, (2, 1): 0, (3, 0): 0, (3, 1): 0,
    }  # fmt: skip
    assert conditional(seen, "c") == {(1,): 1, (2,): 0, (3,): 0}
    assert conditional(seen, "z") == {(0,): 0, (1,): 1}
    assert independent(seen)


def seen_both(world: World, x: int, y: int) -> bool:
    return (world.x, world.y) == (x, y)


def test_every_x_and_y_separate(capsys) -> None:
    main()
    assert "always independent" in capsys.readouterr().out
    for x, y in {(world.x, world.y) for world in joint()}:
        assert independent(partial(seen_both, x=x, y=y))
