/** Models in the memory of the inference server. */
import {button} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, setText} from '../../../pages/parts/elements.js'
import {bytes, count, number, until} from '../../../pages/parts/format.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {listView} from './list-view.js'
import {call, canCall} from './operations.js'

const columns = {Model: 'id', Memory: 'fit', Context: 'fit', 'Unloads in': 'fit', '': 'acts'}

/** The server sends no events, so it is asked while the view is open, ms. */
const pollMs = 2000

export function modelsView(_route, {showFault}) {
  const summary = element('p', {className: 'quiet'})
  let server = ''
  return listView({
    title: 'Models',
    columns,
    async read() {
      const loaded = await call('models.loaded')
      server = loaded.server
      return loaded.models
    },
    shown(models) {
      const known = models.reduce((sum, {memory_bytes: size}) => sum + (size ?? 0), 0)
      setText(summary, `${server}: ${count(models.length, 'model')} loaded, ${bytes(known)}`)
    },
    keyOf: ({name}) => name,
    make: modelRow,
    empty: ['No model is loaded.', 'svc serve'],
    above: [summary],
    showFault,
    pollMs,
  })
}

function modelRow({name}) {
  const row = tableRow(columns)
  const [model, memory, context, unloads, acts] = row.contents
  let endMs
  model.append(name)
  if (canCall('models.unload')) {
    const unload = button('Unload', () =>
      ask({
        title: `Unload ${name}?`,
        text: 'Running replies end first. The next request loads the model again.',
        verb: 'Unload',
        perform: () => call('models.unload', {model: name}),
        done: `${name} is unloaded.`,
      }),
    )
    unload.ariaLabel = `Unload ${name}`
    acts.append(unload)
  }
  const tick = () => setText(unloads, endMs === undefined ? 'never' : until(endMs))
  return {
    element: row.element,
    tick,
    update({memory_bytes: size, context_length: length, unloads_at: at}) {
      setText(memory, size === null ? '–' : bytes(size))
      row.mark(1, size === null)
      setText(context, length === null ? '–' : number(length))
      row.mark(2, length === null)
      endMs = at === null ? undefined : Date.parse(at)
      tick()
    },
  }
}
