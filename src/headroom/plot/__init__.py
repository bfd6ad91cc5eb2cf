"""Charts as SVG and one-page reports as HTML: text in, text out, nothing is loaded from elsewhere.

`marks` defines what can be drawn, `chart` draws it, `page` combines charts, tables and paragraphs.
The same values give the same bytes, and all text is escaped.
"""
