/** The database of a program that `svc db serve` serves: its endpoints, its schema, and the rows that queries return. */
import {button, facts, plainTable, section} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, replaceContent, setHidden, setText} from '../../../pages/parts/elements.js'
import {parametersOf, resultBlock, schemaOf} from '../../../pages/parts/endpoints.js'
import {createFields, labelOf} from '../../../pages/parts/form.js'
import {LiveStream} from '../../../pages/parts/live.js'
import {createReader} from '../../../pages/parts/reader.js'
import {addressOf} from '../../../pages/parts/router.js'
import {objectView} from './object-view.js'
import {call, canCall} from './operations.js'

const livePath = '/api/live/{topic}'

/** The endpoints of a document, without streams and second forms of queries. */
function endpointsOf({paths}) {
  return Object.entries(paths)
    .filter(([path]) => path !== livePath)
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, {operationId: id}]) => !(method === 'post' && id === `${methods.get?.operationId}_by_post`))
        .map(([method, operation]) => ({
          ...operation,
          id: operation.operationId,
          path,
          method,
          reads: method === 'get',
          parameters: parametersOf(operation),
        })),
    )
}

/** Opens the stream of changes if the program has topics. */
function followChanges({paths}, reload, showFault) {
  if (paths[livePath] === undefined) return undefined
  const stream = new LiveStream('/api/table-changes', {opened: reload, changes: reload}, (state) => {
    if (state === 'lost') showFault(new Error('svc db serve is not reachable. The page continues when it runs again.'))
  })
  stream.open()
  return stream
}

export function tablesView(_route, {showFault}) {
  const view = objectView({
    title: 'Tables',
    showFault,
    concerns: () => false,
    read: () => call('db.describe'),
    render: ({server, document}) => {
      const endpoints = endpointsOf(document)
      const {schemas = {}} = document.components
      return {
        elements: [
          facts({Program: document.info.title, Server: server}),
          section(
            'Queries',
            plainTable(
              'Queries',
              ['Query', 'Description', 'Path'],
              endpoints
                .filter(({reads}) => reads)
                .map(({id, summary, path}) => [element('a', {href: addressOf(['tables', id])}, id), summary, path]),
            ),
          ),
          section(
            'Changes',
            plainTable(
              'Changes',
              ['Endpoint', 'Description', 'Path', ''],
              endpoints
                .filter(({reads}) => !reads)
                .map((endpoint) => [
                  endpoint.id,
                  endpoint.summary,
                  endpoint.path,
                  canCall('db.change') ? changeButton(endpoint) : undefined,
                ]),
            ),
          ),
          section(
            'Schema',
            ...Object.entries(schemas)
              .filter(([name, {properties}]) => properties !== undefined && !name.startsWith('ErrorEnvelope'))
              .map((entry) => tableSchema(...entry)),
          ),
        ],
      }
    },
  })
  // The server may start, or serve another program.
  return {...view, pollMs: 3000}
}

const tableSchema = (name, {properties, required = [], description = ''}) =>
  element(
    'details',
    {className: 'panel schema'},
    element('summary', {}, name, ' ', element('span', {className: 'quiet'}, description)),
    plainTable(
      name,
      ['Member', 'Type', 'Required'],
      Object.entries(properties).map(([member, schema]) => [
        member,
        typeWords(schema),
        required.includes(member) ? 'yes' : 'no',
      ]),
    ),
  )

function typeWords({$ref: ref, type, items, anyOf, oneOf, const: constant}) {
  if (ref !== undefined) return ref.split('/').at(-1)
  if (constant !== undefined) return JSON.stringify(constant)
  if (anyOf !== undefined || oneOf !== undefined) return (anyOf ?? oneOf).map(typeWords).join(' or ')
  return type === 'array' && items ? `list of ${typeWords(items)}` : String(type ?? 'any')
}

const isId = ({name}) => name === 'id' || name === '_id'

/** A button that asks for the arguments of an endpoint. @param row values of a row that it changes, whose id is not asked for */
function changeButton(endpoint, row) {
  const {id, summary, parameters} = endpoint
  const ids = row === undefined ? {} : Object.fromEntries(parameters.filter(isId).map(({name}) => [name, row._id]))
  const made = button(labelOf(id), () =>
    ask({
      title: row === undefined ? labelOf(id) : `${labelOf(id)}: ${row._id}`,
      text: summary,
      verb: labelOf(id),
      schema: schemaOf(row === undefined ? parameters : parameters.filter((each) => !isId(each))),
      values: row,
      perform: (values) => call('db.change', {endpoint: id, arguments: {...ids, ...values}}),
      done: `${labelOf(id)} was performed.`,
    }),
  )
  if (row !== undefined) made.ariaLabel = `${labelOf(id)} ${row._id}`
  return made
}

const takesRow = ({parameters}) => parameters.some((each) => each.required && isId(each))

/** A query: a form for its arguments, and its rows, which are read again after a change. */
export function queryView({segments: [id]}, {showFault}) {
  const form = element('form', {className: 'panel filter', hidden: true})
  const result = element('div', {}, element('p', {className: 'quiet'}, 'Loading …'))
  const buttons = element('div', {className: 'actions'})
  const lead = element('p', {className: 'quiet'})
  let values = {}
  let changes
  let stream
  let shown

  function prepare(document) {
    const endpoints = endpointsOf(document)
    const query = endpoints.find((each) => each.id === id)
    if (query === undefined) throw new Error(`The program has no query ${id}.`)
    changes = canCall('db.change') ? endpoints.filter(({reads}) => !reads) : []
    setText(lead, query.summary)
    buttons.replaceChildren(...changes.filter((each) => !takesRow(each)).map((each) => changeButton(each)))
    if (query.parameters.length > 0) {
      const fields = createFields(schemaOf(query.parameters))
      form.replaceChildren(...fields.elements, element('button', {type: 'submit', className: 'primary'}, 'Filter'))
      form.onsubmit = (event) => {
        event.preventDefault()
        try {
          values = fields.values()
          reload()
        } catch (error) {
          showFault(error)
        }
      }
      setHidden(form, false)
    }
    stream = followChanges(document, reload, showFault)
    return query
  }

  let query
  const {reload, close} = createReader(
    async (isOpen) => {
      if (query === undefined) {
        const {document} = await call('db.describe')
        if (!isOpen()) return undefined
        query = prepare(document)
        if (query.parameters.some(({required}) => required)) return undefined
      }
      return (await call('db.query', {endpoint: id, arguments: values})).result
    },
    (rows) => {
      showFault()
      const key = JSON.stringify(rows)
      if (key === shown) return
      shown = key
      if (rows === undefined) return result.replaceChildren()
      const ofRow = changes.filter(takesRow)
      const hasIds = Array.isArray(rows) && rows.every((row) => Number.isInteger(row?._id))
      const actsOf = hasIds && ofRow.length > 0 ? (row) => ofRow.map((each) => changeButton(each, row)) : undefined
      return replaceContent(
        result,
        Array.isArray(rows) && rows.length === 0
          ? element('div', {className: 'panel empty'}, element('p', {}, 'No rows.'))
          : resultBlock(rows, actsOf),
      )
    },
    {onFault: showFault, pauseMs: 100},
  )
  reload()
  return {
    title: labelOf(id),
    actions: [buttons],
    elements: [lead, form, result],
    reload,
    close() {
      close()
      stream?.stop()
    },
  }
}
