/** A self-contained page that lists the routes of the program from its OpenAPI document and calls them. */
export const explorerPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>svc db serve</title>
<style>
  * { box-sizing: border-box }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; color: #222; background: #fff; overflow-wrap: anywhere }
  details { border: 1px solid #ccc; border-radius: 6px; margin: .5rem 0; padding: .5rem 1rem }
  summary { cursor: pointer; font-family: ui-monospace, monospace }
  label { display: grid; grid-template-columns: minmax(6rem, 10rem) minmax(0, 1fr); gap: .5rem; margin: .25rem 0 }
  input, textarea, button { font: inherit; padding: .25rem .5rem; max-width: 100% }
  @media (max-width: 30rem) { label { grid-template-columns: minmax(0, 1fr); gap: 0 } }
  input, textarea { font-family: ui-monospace, monospace }
  pre { background: #f5f5f5; padding: .5rem; overflow: auto; border-radius: 4px; white-space: pre-wrap }
  @media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } pre { background: #222 } details { border-color: #444 } }
</style>
<h1>svc db serve</h1>
<p>Values are JSON: <code>"text"</code>, <code>1</code>, <code>true</code>. The document is <a href="/_svc/openapi.json">openapi.json</a>.</p>
<label>Bearer token <input id="token" type="password" autocomplete="off" placeholder="none"></label>
<main></main>
<script>
const main = document.querySelector('main')
const element = (name, props = {}, ...children) => {
  const made = Object.assign(document.createElement(name), props)
  made.append(...children)
  return made
}
const headers = () => {
  const token = document.getElementById('token').value
  return token === '' ? {} : {authorization: 'Bearer ' + token}
}
function fieldsOf(operation) {
  const body = operation.requestBody?.content['application/json'].schema
  return [
    ...(operation.parameters ?? []).map((p) => ({name: p.name, where: p.in, required: p.required, isJson: p.content !== undefined})),
    ...Object.keys(body?.properties ?? {}).map((name) => ({name, where: 'body', required: body.required.includes(name)})),
  ]
}
async function call(method, path, fields, inputs, output) {
  try {
    const values = fields.map((field, i) => [field, inputs[i].value.trim()]).filter(([, text]) => text !== '')
    let url = path
    const query = []
    const body = {}
    for (const [field, text] of values) {
      if (field.where === 'path') url = url.replace('{' + field.name + '}', encodeURIComponent(text))
      else if (field.where === 'query') query.push(field.name + '=' + encodeURIComponent(text))
      else body[field.name] = JSON.parse(text)
    }
    if (query.length > 0) url += '?' + query.join('&')
    const sends = method === 'post' || method === 'put'
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: {...headers(), ...(sends ? {'content-type': 'application/json'} : {})},
      body: sends ? JSON.stringify(body) : undefined,
    })
    const text = await response.text()
    let shown = text
    try { shown = JSON.stringify(JSON.parse(text), null, 2) } catch {}
    output.textContent = response.status + ' ' + response.statusText + '\\n' + shown
  } catch (error) {
    output.textContent = String(error)
  }
}
async function show() {
  const response = await fetch("/_svc/openapi.json", {headers: headers()})
  if (!response.ok) return main.replaceChildren(element('p', {textContent: 'Enter the token to load the routes.'}))
  const {paths, info} = await response.json()
  document.title = document.querySelector('h1').textContent = info.title
  main.replaceChildren()
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      // Neither the other form of a query nor a stream without an end.
      if ((method === 'post' && methods.get?.operationId + '_by_post' === operation.operationId)
        || operation.responses[200]?.content?.['text/event-stream']) continue
      const fields = fieldsOf(operation)
      const inputs = fields.map((field) => element('input', {placeholder: field.required ? 'required' : 'optional'}))
      const output = element('pre', {hidden: true})
      const button = element('button', {textContent: 'Call', onclick: () => { output.hidden = false; call(method, path, fields, inputs, output) }})
      main.append(element('details', {},
        element('summary', {textContent: method.toUpperCase() + ' ' + path}),
        element('p', {textContent: operation.description ?? ''}),
        ...fields.map((field, i) => element('label', {}, field.name + (field.where === 'body' ? '' : ' (' + field.where + ')'), inputs[i])),
        button, output))
    }
}
document.getElementById('token').onchange = show
show()
</script>
</html>
`
