import type {SettingSources} from '../config/index.js'
import type {OrchestratorRoom} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'

/** Opens the orchestrator of a workspace; its store has the tables of every room that keeps something there. */
export async function openWorkspace(
  root: string,
  sources: SettingSources,
): Promise<{room: OrchestratorRoom; orchestrator: Orchestrator}> {
  const [room, {assistantFragment}, {meshFragment}] = await Promise.all([
    import('../orchestrator/index.js'),
    import('../assistant/index.js'),
    import('../mesh/index.js'),
  ])
  const fragments = [assistantFragment, meshFragment]
  return {room, orchestrator: await room.openOrchestrator({root, sources, fragments})}
}
