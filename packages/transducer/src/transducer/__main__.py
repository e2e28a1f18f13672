"""``python -m transducer``, which is what ``torchrun -m transducer`` starts."""

from transducer.cli import main

if __name__ == "__main__":
    main(prog_name="transducer")
