/** Colours of the light page; each state has ink, ground, and a shape of its own beside its word. */
const light = `
--ground: #f5f6f8; --panel: #ffffff; --ink: #171a1f; --quiet: #59626e; --line: #e0e4ea; --line-strong: #c3cad3;
--accent: #2a58d0; --accent-ink: #ffffff; --danger: #b3202f; --hover: #f0f2f6; --bar: #d5dffa;
--ok-ink: #0c6338; --ok: #e0f4e8; --stale-ink: #7a4b00; --stale: #fcefd0;
--maintenance-ink: #1d4da3; --maintenance: #e3ecfd; --quarantine-ink: #a11b2a; --quarantine: #fde6e8;
--shadow: 0 1px 2px rgb(20 30 50 / 6%), 0 4px 16px rgb(20 30 50 / 4%)`

const dark = `
--ground: #0e1115; --panel: #161a20; --ink: #e8ebef; --quiet: #9aa5b3; --line: #272e37; --line-strong: #3d4753;
--accent: #8cb0ff; --accent-ink: #0d1626; --danger: #ff8f99; --hover: #1d232b; --bar: #263a66;
--ok-ink: #86dcaa; --ok: #10301f; --stale-ink: #f3c872; --stale: #35280c;
--maintenance-ink: #a4c5ff; --maintenance: #17294b; --quarantine-ink: #ffa1a9; --quarantine: #43171d;
--shadow: none`

/** A table whose rows are cards, for a place that is too narrow for its columns. */
const cards = (table: string) => `
  ${table}, ${table} tbody { display: block }
  ${table} thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  ${table} tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1px; background: var(--line) }
  ${table} tr { display: flex; flex-direction: column; gap: .35rem; padding: 1rem 1.1rem; background: var(--panel) }
  ${table} td { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: .75rem; align-items: baseline; padding: 0; border: 0; white-space: normal }
  ${table} td::before { content: attr(data-head); color: var(--quiet); font-size: .85rem }
  ${table} td[role] > div { min-width: 0 }
  ${table} td.id, ${table} td.acts { grid-template-columns: minmax(0, 1fr) }
  ${table} td.id { margin-bottom: .15rem; font-size: 1rem }
  ${table} td.id::before, ${table} td.acts::before { content: none }
  ${table} td.none { display: none }
  ${table} td.acts { margin-top: auto; padding-top: .5rem }
  ${table} td.acts > div { display: flex; gap: .5rem }
  ${table} td.acts button { flex: 1; margin: 0; padding: .5rem }`

export const style = `
:root { ${light}; color-scheme: light }
@media (prefers-color-scheme: dark) { :root { ${dark}; color-scheme: dark } }

*, *::before, *::after { box-sizing: border-box }
[hidden] { display: none !important }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
header, main { max-width: 80rem; margin: 0 auto; padding: 0 clamp(1rem, 3vw, 2rem) }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem 1.5rem; padding-block: 1.5rem 1.25rem }
main { padding-bottom: 4rem }
h1, h2, h3, p, dl, dd, ul { margin: 0; padding: 0 }
h1 { font-size: 1.35rem; line-height: 1.25; letter-spacing: -.01em }
h2 { font-size: 1.05rem; line-height: 1.4 }
h3 { font-size: .8rem; font-weight: 600; color: var(--quiet) }
.brand { display: flex; align-items: center; gap: .75rem; min-width: 0 }
.brand svg { flex: none; color: var(--accent) }
.brand p { font-size: .85rem; overflow-wrap: anywhere }
.mono, code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; font-size: .9em }
.quiet { color: var(--quiet) }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }

.pill, .badge { display: inline-flex; align-items: center; gap: .45em; border-radius: 99px; font-weight: 600; white-space: nowrap }
.pill { padding: .3rem .85rem; font-size: .9rem }
.badge { padding: .1rem .6rem; font-size: .8rem; margin: .1rem .35rem .1rem 0 }
.pill::before, .badge::before { content: ""; flex: none; width: .6em; height: .6em; border: .15em solid currentColor; border-radius: 50% }
.pill[data-link=answers], .badge[data-state=ok] { color: var(--ok-ink); background: var(--ok) }
.pill[data-link=answers]::before, .badge[data-state=ok]::before { background: currentColor }
.pill[data-link=busy], .badge[data-state=stale] { color: var(--stale-ink); background: var(--stale) }
.badge[data-state=maintenance] { color: var(--maintenance-ink); background: var(--maintenance) }
.badge[data-state=maintenance]::before { background: currentColor; border-radius: 0; transform: rotate(45deg) scale(.85) }
.pill[data-link=away], .pill[data-link=lost], .badge[data-state=quarantined] { color: var(--quarantine-ink); background: var(--quarantine) }
.pill[data-link=away]::before, .pill[data-link=lost]::before, .badge[data-state=quarantined]::before { background: currentColor; border-radius: .1em }
.pill[data-link=connecting] { color: var(--quiet); background: var(--line) }

.banner { margin-bottom: 1.25rem; padding: .75rem 1rem; border-radius: .6rem; color: var(--quarantine-ink); background: var(--quarantine); overflow-wrap: anywhere }
.banner[data-link=busy] { color: var(--stale-ink); background: var(--stale) }

.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: .75rem }
.tile, .panel { background: var(--panel); border: 1px solid var(--line); border-radius: .75rem; box-shadow: var(--shadow) }
.tile { padding: .85rem 1.1rem }
.tile dt { color: var(--quiet); font-size: .85rem }
.tile dd { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .6rem }
.figure { font-size: 1.8rem; line-height: 1.3; font-weight: 650; letter-spacing: -.02em }
.note { color: var(--quiet); font-size: .85rem }
.tile.alarm .figure { color: var(--danger) }

section { min-width: 0; margin-top: 2rem }
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .6rem 1rem; min-height: 2.25rem; margin-bottom: .6rem }
.choose { display: flex; flex-wrap: wrap; gap: .6rem }
.chips { display: flex; flex-wrap: wrap; gap: .35rem }
.pair { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0 1.5rem; align-items: start }
.panel { overflow: hidden; container-type: inline-size }
.empty { padding: 1.75rem 1.25rem; text-align: center; color: var(--quiet) }
.empty p + p { margin-top: .35rem }
.empty .lead { color: var(--ink); font-weight: 600 }
.empty .small { font-size: .85rem }
.empty code { display: inline-block; padding: .3rem .7rem; border-radius: .4rem; color: var(--ink); background: var(--hover); border: 1px solid var(--line); overflow-wrap: anywhere; user-select: all }

table { width: 100%; border-collapse: collapse; font-size: .9rem }
th { padding: .6rem .75rem; text-align: left; font-size: .8rem; font-weight: 600; color: var(--quiet); white-space: nowrap; border-bottom: 1px solid var(--line) }
td { padding: .6rem .75rem; vertical-align: top; overflow-wrap: anywhere; border-bottom: 1px solid var(--line) }
tbody tr:last-child td { border-bottom: 0 }
th:first-child, td:first-child { padding-left: 1.25rem }
th:last-child, td:last-child { padding-right: 1.25rem }
tbody tr:hover { background: var(--hover) }
td.id { font-weight: 600 }
#nodes-table td.id > div { min-width: 10rem }
td.bits > div { min-width: 8rem }
.bit { display: inline-block }
.bit:has(+ .bit)::after { content: "·"; margin: 0 .35em; color: var(--quiet) }
td.fit { white-space: nowrap; overflow-wrap: normal }
td .under { display: block; color: var(--quiet); font-size: .85em; font-weight: 400 }
td.acts { text-align: right; white-space: nowrap }
td.none { color: var(--quiet) }
.tag { display: inline-block; max-width: 100%; margin: .1rem .3rem .1rem 0; padding: .05rem .45rem; border-radius: .3rem; font-size: .8rem; color: var(--quiet); background: var(--hover); border: 1px solid var(--line) }
.load { display: block; width: 5rem; max-width: 100%; height: .3rem; margin-top: .3rem; border-radius: 1rem; background: var(--line); overflow: hidden }
.load span { display: block; height: 100%; border-radius: 1rem; background: var(--accent) }
.soon { color: var(--stale-ink); font-weight: 600 }
main.look .acts { display: none }
main.old .tiles, main.old section { opacity: .75; filter: grayscale(.8) }
.more { padding: .75rem 1.25rem; color: var(--quiet); border-top: 1px solid var(--line); font-size: .9rem }

.lists { display: grid; gap: 1.1rem; padding: 1rem 1.25rem 1.15rem }
.lists:not(:has(> :not([hidden]))) { display: none }
.bars { list-style: none; margin-top: .4rem; display: grid; gap: .3rem; font-size: .9rem }
.bars li { position: relative; display: flex; justify-content: space-between; gap: 1rem; padding: .2rem .6rem; border-radius: .35rem; overflow: hidden }
.bars li > i { position: absolute; inset: 0 auto 0 0; min-width: 3px; background: var(--bar) }
.bars li > span { position: relative; overflow-wrap: anywhere }
.bars li > span:last-child { font-weight: 600 }

button, input { font: inherit; color: inherit }
button { padding: .3rem .7rem; border: 1px solid var(--line-strong); border-radius: .45rem; background: var(--panel); font-size: .85rem; cursor: pointer }
button:hover { background: var(--hover) }
button:disabled { opacity: .55; cursor: default }
td button + button { margin-left: .35rem }
button[aria-pressed] { border-radius: 99px }
button[aria-pressed=true] { color: var(--accent-ink); background: var(--accent); border-color: var(--accent) }
input { padding: .35rem .7rem; border: 1px solid var(--line-strong); border-radius: .45rem; background: var(--panel); font-size: .9rem }
input::placeholder { color: var(--quiet); opacity: 1 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
h2:focus { outline: none }

dialog { width: min(28rem, calc(100vw - 2rem)); padding: 1.5rem; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: .9rem; box-shadow: 0 16px 48px rgb(0 0 0 / 30%) }
dialog::backdrop { background: rgb(10 14 20 / 50%) }
dialog h2 { overflow-wrap: anywhere }
dialog h2 + p { margin-top: .5rem; color: var(--quiet); overflow-wrap: anywhere }
dialog label { display: grid; gap: .3rem; margin-top: 1rem; font-size: .9rem }
dialog .fault { margin-top: .75rem; color: var(--danger); overflow-wrap: anywhere }
dialog .fault:empty { display: none }
dialog .buttons { display: flex; justify-content: flex-end; gap: .6rem; margin-top: 1.5rem }
dialog button { padding: .45rem 1rem; font-size: .9rem; white-space: nowrap }
#confirm-yes { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); font-weight: 600 }
#confirm-yes.danger { background: var(--danger); border-color: var(--danger) }
.toast { position: fixed; inset: auto 1rem 1.25rem; width: fit-content; max-width: calc(100vw - 2rem); margin: 0 auto; padding: .6rem 1.1rem; border-radius: .6rem; color: var(--ground); background: var(--ink); box-shadow: 0 8px 24px rgb(0 0 0 / 25%); overflow-wrap: anywhere }
.toast:empty { display: none }

@media (prefers-reduced-motion: no-preference) {
  tr.changed > td { animation: changed 1.6s ease-out }
  @keyframes changed { from { background: var(--bar) } }
  .load span, .bars i { transition: width .3s }
  .tiles, section { transition: opacity .3s }
}
@media (prefers-contrast: more) { :root { --quiet: var(--ink); --line: var(--line-strong) } }
@media (forced-colors: active) { .pill, .badge, .tag { border: 1px solid } .bars li > i, .load span { background: Highlight } }
@media (max-width: 64rem) { .pair { grid-template-columns: minmax(0, 1fr) } }
@media (max-width: 40rem) {
  header { padding-block: 1.1rem 1rem }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)) }
  .tile { padding: .7rem .9rem }
  .figure { font-size: 1.5rem }
  .choose, .choose label, #filter { width: 100% }
  #filter { padding: .5rem .7rem }
  .more button { margin-top: .35rem }
  input { font-size: 16px }
  dialog { padding: 1.25rem }
  dialog .buttons button { flex: 1 }
}
@container (max-width: 62rem) { ${cards('#nodes-table')}${cards('#dead-table')} }
@container (max-width: 34rem) { ${cards('#leases-table')} }
`
