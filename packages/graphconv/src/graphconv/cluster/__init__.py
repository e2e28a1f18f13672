"""Bulk work on one machine or many: inputs are cut into pieces, each becomes a shard, none is lost.

A command describes its work as a :class:`~graphconv.cluster.work.Job`: how an input is cut into
pieces, what a worker makes of a piece, and what tells the job from others.
:func:`~graphconv.cluster.running.run` does it with an engine (this process, or Ray Data) and writes
to one folder:

``part-000000-000001.sdp``
    The first shard of the first input. Shards appear under their names when they are complete.
``part-000000-000000.head``, ``part-000000-000003.tail``
    What a file of that format has before its first graph and after its last, if it has anything;
    they come when all shards of the input are there. So ``cat part-000000-*`` is what one machine
    writes for that input.
``manifest.json``
    Inputs and shards with their hashes and counts, and what failed and why. While a run is under
    way, or was ended suddenly, there is a journal in its place, ``.manifest.json.unfinished``.

The same command goes on where a run ended: shards whose hash is right stay, all others are made.
Other inputs, options or models are refused; only an input that failed may have been mended.
"""
