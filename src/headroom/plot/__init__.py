"""Charts as SVG and one-page reports as HTML: text in, text out, nothing loaded from elsewhere.

`marks` are the things that can be drawn, `chart` draws them, `page` frames charts, tables and
paragraphs. The same values give the same bytes, and every text is escaped.
"""
