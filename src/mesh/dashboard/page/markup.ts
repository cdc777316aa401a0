/** Three nodes and what joins them. */
const sign = `<svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
<path d="M16 8 7 23h18z" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linejoin="round" opacity=".45"/>
<circle cx="16" cy="8" r="4.5" fill="currentColor"/><circle cx="7" cy="23" r="4.5" fill="currentColor"/><circle cx="25" cy="23" r="4.5" fill="currentColor"/>
</svg>`

const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 8 7 23h18z" fill="none" stroke="#7a9cf0" stroke-width="3"/><g fill="#3b6fe0"><circle cx="16" cy="8" r="5"/><circle cx="7" cy="23" r="5"/><circle cx="25" cy="23" r="5"/></g></svg>`,
)}`

const tile = (id: string, name: string) => `<div class="tile">
<dt>${name}</dt>
<dd><span class="figure" id="${id}-figure">–</span><span class="note" id="${id}-note"></span></dd>
</div>`

/** Heads of a table; the roles are said again, since a table that is shown as cards is none to some readers of screens. */
const table = (id: string, caption: string, heads: readonly string[]) => `<table role="table" id="${id}-table" hidden>
<caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads
  .map((head) => `<th role="columnheader" scope="col">${head}</th>`)
  .join('')}<th role="columnheader" scope="col" class="acts"><span class="unseen">Actions</span></th></tr></thead>
<tbody role="rowgroup" id="${id}-rows"></tbody>
</table>
<p class="more" id="${id}-more" hidden><span></span> <button type="button">Show more</button></p>`

const denied = (id: string, why: string) => `<div class="empty" id="${id}-denied" hidden>
<p class="lead">Not allowed</p>
<p>${why}</p>
<p class="small"></p>
</div>`

const queueList = (id: string, name: string) => `<div id="${id}" hidden>
<h3>${name}</h3>
<ul class="bars"></ul>
</div>`

export const markup = ({style, script}: {style: string; script: string}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Mesh</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<header>
<div class="brand">${sign}<div><h1>Mesh</h1><p class="mono quiet" id="address"></p></div></div>
<p class="pill" id="link" data-link="connecting"><span>Connecting</span></p>
</header>
<main>
<noscript><p class="banner">This page needs JavaScript.</p></noscript>
<p class="banner" id="banner" hidden></p>
<dl class="tiles">
${tile('nodes', 'Nodes')}
${tile('leases', 'Leases')}
${tile('waiting', 'Messages waiting')}
${tile('dead', 'Dead messages')}
</dl>
<section aria-labelledby="nodes-title">
<div class="head">
<h2 id="nodes-title" tabindex="-1">Nodes</h2>
<div class="choose" id="choose" hidden>
<div class="chips" role="group" aria-label="Which nodes are shown"></div>
<label><span class="unseen">Filter nodes by id or label</span><input type="search" id="filter" placeholder="Filter by id or label" autocomplete="off" spellcheck="false"></label>
</div>
</div>
<div class="panel">
${denied('nodes', 'Nodes take the token of a worker, of an administrator, or of the role mesh.')}
<div class="empty" id="nodes-empty" hidden>
<p class="lead">No node has joined.</p>
<p>Join this machine, or another one that has a token:</p>
<p><code id="nodes-command">svc mesh join</code></p>
</div>
<p class="empty" id="nodes-none" hidden>No node is like that.</p>
<p class="empty quiet" id="nodes-wait">Waiting for the control plane …</p>
${table('nodes', 'Nodes of the mesh', ['Node', 'State', 'Last seen', 'GPU', 'CPU', 'Labels'])}
</div>
</section>
<div class="pair">
<section aria-labelledby="leases-title">
<div class="head"><h2 id="leases-title" tabindex="-1">Leases</h2></div>
<div class="panel">
${denied('leases', 'Leases, and changes to nodes, take the token of an administrator or of the role mesh.')}
<div class="empty" id="leases-empty" hidden>
<p class="lead">No lease is held.</p>
<p>A node takes one before it does what only one may do.</p>
</div>
<p class="empty quiet" id="leases-wait">Waiting for the control plane …</p>
${table('leases', 'Leases that are held', ['Lease', 'Key', 'Holder', 'Time left'])}
</div>
</section>
<section aria-labelledby="queue-title">
<div class="head"><h2 id="queue-title">Messages waiting</h2></div>
<div class="panel">
${denied('queue', 'The queue takes the token of a worker, of an administrator, or of the role mesh.')}
<div class="empty" id="queue-empty" hidden>
<p class="lead">No message waits.</p>
<p>Send one with</p>
<p><code>svc mesh deliver</code></p>
</div>
<p class="empty quiet" id="queue-wait">Waiting for the control plane …</p>
<div class="lists">
${queueList('by-kind', 'By kind')}
${queueList('by-priority', 'By priority, most urgent first')}
</div>
</div>
</section>
</div>
<section aria-labelledby="dead-title">
<div class="head"><h2 id="dead-title" tabindex="-1">Dead messages</h2></div>
<div class="panel">
${denied('dead', 'Dead messages take the token of an administrator or of the role mesh.')}
<div class="empty" id="dead-empty" hidden>
<p class="lead">No message is dead.</p>
<p>A message is dead after 16 attempts without an acknowledgement.</p>
</div>
<p class="empty quiet" id="dead-wait">Waiting for the control plane …</p>
${table('dead', 'Dead messages', ['Message', 'From', 'To', 'Type', 'Given up', 'Payload'])}
</div>
</section>
</main>
<p class="unseen" role="status" aria-live="polite" id="told"></p>
<p class="toast" role="status" aria-live="polite" id="toast"></p>
<dialog id="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-text">
<form method="dialog">
<h2 id="confirm-title"></h2>
<p id="confirm-text"></p>
<label id="confirm-minutes" hidden>For how many minutes
<input type="number" min="1" max="10080" step="1" inputmode="numeric" placeholder="until it is ended"></label>
<p class="fault" role="alert" id="confirm-fault"></p>
<p class="buttons"><button type="button" id="confirm-no">Cancel</button><button type="submit" id="confirm-yes"></button></p>
</form>
</dialog>
<script>${script}</script>
</body>
</html>
`
