"""``transducer serve``: text in, documents out, over HTTP.

:mod:`.settings` what can be set, :mod:`.work` one thread that owns the models and decodes requests
together, :mod:`.requests` what a request may say, :mod:`.answers` and :mod:`.events` what it is
answered, :mod:`.app` the endpoints, :mod:`.connection` how long a client may take, :mod:`.metrics`
what ``/metrics`` counts, ``page/`` the page that shows a graph grow.
"""
