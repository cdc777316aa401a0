import {readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {execa} from 'execa'
import {parse} from 'smol-toml'
import {startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {projectFile} from './project.js'

/** The run directory of the guide, and its training recipe. */
export const guideRun = projectFile('examples/runs/guide')
export const guideRecipe = projectFile('examples/train-guide')

/** A held-out question, and the key fact that the answer must contain. */
export interface HeldOut {
  id: string
  question: string
  key: string
}

export async function heldOutQuestions(): Promise<HeldOut[]> {
  const source = await readFile(join(guideRecipe, 'guide/facts.toml'), 'utf8')
  const {fact} = parse(source) as unknown as {fact: {id: string; key: string; held_out: string}[]}
  return fact.map(({id, key, held_out: question}) => ({id, question, key}))
}

/** Creates links to the files of the base model, without the adapter, in a folder. */
export async function linkBase(folder: string): Promise<void> {
  const names = [
    'config.json',
    'generation_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'model.safetensors',
  ]
  for (const name of names) await symlink(join(guideRun, name), join(folder, name))
}

export interface Asked {
  /** Share of answers that contain the key fact, 0 to 1. */
  share: number
  missed: {id: string; question: string; answer: string}[]
}

/** Asks a model all questions with greedy decoding. */
export async function askAll(model: string, questions: readonly HeldOut[]): Promise<Asked> {
  const engine = await startEngine(model, {threads: 1, numCtx: 0})
  try {
    const missed = await Promise.all(
      questions.map(async ({id, question, key}) => {
        let answer = ''
        const prompt = {
          kind: 'chat',
          messages: [{role: 'user', content: question}],
          overflow: 'refuse',
        } as const
        const sampling = {...defaultSampling, temperature: 0}
        for await (const event of engine.generate({prompt, maxTokens: 80, stop: [], sampling}))
          if (event.type === 'text') answer += event.text
        return answer.includes(key) ? [] : [{id, question, answer}]
      }),
    )
    return {share: 1 - missed.flat().length / questions.length, missed: missed.flat()}
  } finally {
    await engine.close()
  }
}

/** The training text of the guide, generated again by its recipe. */
export async function trainingText(): Promise<string> {
  const {stdout} = await execa('python3', ['-m', 'guide', 'text'], {
    env: {PYTHONPATH: guideRecipe, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1'},
    stripFinalNewline: false,
  })
  return stdout
}

/** All sequences of five consecutive words. */
export function fiveGrams(line: string): string[] {
  const words = line.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.slice(4).map((_, i) => words.slice(i, i + 5).join(' '))
}
