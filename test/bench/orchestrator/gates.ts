import {createHash} from 'node:crypto'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {monitorEventLoopDelay} from 'node:perf_hooks'
import {median, round} from '../../../src/bench/measure.js'
import {withOrchestrator} from '../../../src/bench/temporary.js'
import {claimTask, completeTask, submitTask} from '../../../src/tasks/index.js'

const fileCount = 50
const fileBytes = 20_000
const rounds = 20

/** Every gate but the behavioral one. */
const settings = {
  SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD: 'enforce',
  SVC_ORCHESTRATOR_COMPLETION_GROUNDING_ENFORCE: 'true',
  SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE: 'true',
}

const paths = Array.from({length: fileCount}, (_, i) => `src/module-${i}.ts`)

/** A TypeScript module of about 20 KB with code, comments and strings. */
const moduleText = (seed: number): string => {
  const block = (i: number) =>
    `/** Adds ${i} to a value; see the notes about rounding. */\nexport function add${seed}_${i}(value: number): number {\n  const name = 'step ${i}' // kept for the log\n  return name.length > 0 ? value + ${i} : value\n}\n\n`
  let text = ''
  for (let i = 0; text.length < fileBytes; i++) text += block(i)
  return text.slice(0, fileBytes)
}

/**
 * Time to complete a task that changed 50 files of 20 KB with all gates, compared with reading and hashing the same
 * files in turn. Also the longest time for which the event loop was blocked meanwhile.
 */
export const orchestratorGates = () =>
  withOrchestrator(settings, async (orchestrator) => {
    const {root} = orchestrator
    await mkdir(join(root, 'src'))
    const gated: number[] = []
    const hashed: number[] = []
    const delays: number[] = []
    for (let turn = -3; turn < rounds; turn++) {
      const {task_id} = submitTask(orchestrator, {
        description: 'Change the modules',
        processor: 'external',
        file_manifest: paths.map((path) => ({path, access: 'write'})),
        accept: paths.slice(0, 5).map((path) => `It is written [[file:${path}]]`),
      })
      const {generation} = await claimTask(orchestrator, {owner: 'bench', ttlMs: 600_000})
      for (const path of paths) await writeFile(join(root, path), moduleText(turn + 10))
      const hashStarted = performance.now()
      for (const path of paths)
        createHash('sha256')
          .update(await readFile(join(root, path)))
          .digest('hex')
      const hashMs = performance.now() - hashStarted
      const delay = monitorEventLoopDelay({resolution: 1})
      delay.enable()
      const started = performance.now()
      const completion = await completeTask(
        orchestrator,
        task_id,
        {text: 'All modules add their values now.', artifact_paths: paths, declared_non_placeholder: true},
        {generation},
      )
      const gatedMs = performance.now() - started
      delay.disable()
      if (completion.outcome !== 'completed') throw new Error(completion.report)
      if (turn < 0) continue
      gated.push(gatedMs)
      hashed.push(hashMs)
      delays.push(delay.max / 1e6)
    }
    return {
      files: fileCount,
      kilobytes_per_file: fileBytes / 1000,
      gated_ms: round(median(gated), 2),
      hashed_ms: round(median(hashed), 2),
      gated_to_hashed: round(median(gated.map((ms, i) => ms / (hashed[i] as number))), 2),
      longest_delay_ms: round(median(delays), 2),
    }
  })
