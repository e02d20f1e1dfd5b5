# SPDX-License-Identifier: BSD-3-Clause
"""The style sheet that pages with cards, bars and tables share."""

__all__ = ["STYLE"]

STYLE = """
body{margin:0 auto;padding:2.2rem 1.5rem 3rem;max-width:1240px;color:#1c1c1c;line-height:1.5}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 .4rem;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.6rem 0 .3rem}
h3{margin:0 0 .5rem;font-size:1.1rem;display:flex;justify-content:space-between;gap:.6rem;
align-items:baseline;overflow-wrap:anywhere}
h3 small{font-weight:400;color:#555;white-space:nowrap}
h4{margin:.7rem 0 .2rem;font-size:.85rem;color:#555;font-weight:600}
p{max-width:100ch;margin:.4rem 0}
.lead{font-size:1.1rem}
.small,small{font-size:.85rem;color:#555}
.legend{max-width:none}
.key i,th i{display:inline-block;width:.95em;height:.95em;margin-right:.4em;vertical-align:-.1em;
border-radius:2px}
.gap{flex:1}
figure{margin:0}
figure+figure{margin-top:2rem}
.scroll{overflow-x:auto}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:1.1rem;
margin-top:.9rem}
article{border:1px solid #ddd;border-top:7px solid #999;border-radius:5px;padding:.9rem 1rem;
min-width:0}
ul{list-style:none;margin:0;padding:0;font-size:.93rem}
li{display:flex;justify-content:space-between;gap:.6rem}
.bar{display:flex;height:10px;border-radius:3px;overflow:hidden}
.bar i{display:block;font-style:normal;min-width:0}
.tall{height:34px;flex:1}
.tall i{display:flex;align-items:center;justify-content:center;font-size:.85rem;font-weight:600;
white-space:nowrap}
.stack{display:flex;align-items:center;gap:1rem;margin:.5rem 0}
.stack b{width:5rem;text-align:right;font-weight:600}
table{border-collapse:collapse;width:100%;margin-top:.6rem}
td{padding:.45rem .8rem .45rem 0;border-top:1px solid #e6e6e6;vertical-align:middle;
font-size:.95rem;line-height:1.35}
th{text-align:left;padding:1.1rem 0 .35rem}
thead th{font-weight:400;font-size:.85rem;color:#555;padding:.2rem .8rem .2rem 0}
footer{margin-top:2.6rem;border-top:1px solid #ddd;padding-top:.8rem;font-size:.9rem;color:#444}
"""
