"""Look of the status page: light and dark, wide and narrow."""

import base64
import hashlib

__all__ = ["STYLE", "STYLE_HASH"]

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --text: #16191d; --soft: #5b6470; --line: #dde1e6; --stripe: #f9fafb;
  --track: #e3e7ec; --fill: #3b7dd8; --link: #1a5fb4;
  --ok: #1a7f42; --ok-bg: #e2f5e9; --bad: #b3261e; --bad-bg: #fdeae8; --warn: #8a5a00; --warn-bg: #fdf2d8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #111418; --card: #191d23; --text: #e6e9ed; --soft: #98a2ae; --line: #2b323b; --stripe: #1d2229;
    --track: #2e3640; --fill: #5b9df0; --link: #8ab8f5;
    --ok: #6fd398; --ok-bg: #16321f; --bad: #ff9d94; --bad-bg: #43201d; --warn: #f0c268; --warn-bg: #3b2e10;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main, header, footer { max-width: 1360px; margin: 0 auto; padding: 0 24px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 14px; padding-top: 22px; padding-bottom: 14px; }
h1 { margin: 0; font-size: 22px; overflow-wrap: anywhere; }
h2 { margin: 26px 0 10px; font-size: 16px; }
a { color: var(--link); }
code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: 13px; }
.push { margin-left: auto; text-align: right; }
.pill { display: inline-block; padding: 1px 10px; border-radius: 999px; font-size: 13px; font-weight: 600;
  white-space: nowrap; }
.ok { color: var(--ok); background: var(--ok-bg); }
.bad { color: var(--bad); background: var(--bad-bg); }
.warn { color: var(--warn); background: var(--warn-bg); }
.note { color: var(--soft); background: var(--card); }
.notice { margin: 0 0 12px; padding: 12px 16px; border-radius: 8px; border-left: 4px solid currentColor; }
.notice p { margin: 4px 0 0; color: var(--text); }
.notice strong { font-size: 16px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.tiles dt { color: var(--soft); font-size: 13px; }
.tiles dd { margin: 0; font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
.tiles dd span { font-weight: 400; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 14px; text-align: left; vertical-align: top; }
th { color: var(--soft); font-size: 13px; font-weight: 600; border-bottom: 1px solid var(--line); }
tbody tr + tr td { border-top: 1px solid var(--line); }
td small { display: block; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
tr.mig td { padding-top: 3px; padding-bottom: 3px; background: var(--stripe); border-top-color: transparent; }
tr.mig td:nth-child(2) { padding-left: 30px; }
.use { display: flex; align-items: baseline; gap: 8px; min-width: 230px; overflow-wrap: anywhere; }
.number, .number + small { white-space: nowrap; }
td:nth-child(2) { min-width: 200px; }
svg { display: block; width: 100%; min-width: 90px; max-width: 170px; height: 6px; margin-top: 3px; }
svg rect { fill: var(--track); }
svg rect + rect { fill: var(--fill); }
.empty { padding: 18px; color: var(--soft); }
footer { padding-top: 18px; padding-bottom: 36px; display: flex; flex-wrap: wrap; gap: 6px 18px; }
@media (max-width: 760px) {
  main, header, footer { padding-left: 14px; padding-right: 14px; }
  .push { margin-left: 0; text-align: left; width: 100%; }
  thead { position: absolute; left: -9999px; }
  table, tbody, tr, td { display: block; }
  tbody tr { padding: 8px 14px; border-top: 1px solid var(--line); }
  tbody tr:first-child { border-top: 0; }
  tbody tr + tr td, td { border: 0; padding: 2px 0; }
  tr.mig { background: var(--stripe); padding-left: 30px; }
  tr.mig td { background: none; }
  tr.mig td:nth-child(2) { padding-left: 0; }
  td[data-label] { display: grid; grid-template-columns: 108px 1fr; }
  td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: 13px; }
  td:empty { display: none; }
  .number + small { display: inline; margin-left: 6px; }
}
"""

STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
"""What the Content-Security-Policy names, so that no other style is taken."""
