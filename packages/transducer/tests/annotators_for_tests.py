"""Annotators that tests load by name."""


class Upper:
    name = "upper"

    def annotate(self, sentences):
        return [tuple(t._replace(pos=t.form.upper()) for t in tokens) for tokens in sentences]


def nothing():
    return 5
