import type {Completion} from '../../../src/tasks/index.js'

/** Runs scenarios with consecutive seeds. Returns the seeds by outcome, and the reports of the refusals. */
export async function countOutcomes(
  count: number,
  firstSeed: number,
  run: (seed: number) => Promise<Completion>,
): Promise<{accepted: number[]; refused: {seed: number; report: string}[]}> {
  const accepted: number[] = []
  const refused: {seed: number; report: string}[] = []
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const completion = await run(seed)
    if (completion.outcome === 'completed') accepted.push(seed)
    else refused.push({seed, report: completion.report})
  }
  return {accepted, refused}
}
