import {SvcError} from '../errors/index.js'
import {GraphBuilder} from './graph.js'
import {type Device, openSession} from './session.js'

/**
 * Checks that a device is usable by opening a graph with one node on it.
 * @throws device_unavailable
 */
export async function requireDevice(device: Device): Promise<void> {
  if (device === 'cpu') return
  const graph = new GraphBuilder('probe')
  const x = graph.input('x', 'float32', [1])
  graph.output('y', graph.node('Add', [x, x]), 'float32', [1])
  try {
    const session = await openSession(graph.build(), {threads: 1, device})
    await session.release()
  } catch (error) {
    const reason = ((error as Error).message.split('\n')[0] ?? '').replace(/\.$/, '')
    throw new SvcError('device_unavailable', {device, reason}, {cause: error})
  }
}
