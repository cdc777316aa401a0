import {readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {execa} from 'execa'
import {parse} from 'smol-toml'
import {startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import type {Question} from '../help/evaluate.js'
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
  const answers = await answersOf(
    model,
    questions.map(({question}) => question),
  )
  const missed = questions.flatMap(({id, question, key}, i) => {
    const answer = answers[i] ?? ''
    return answer.includes(key) ? [] : [{id, question, answer}]
  })
  return {share: 1 - missed.length / questions.length, missed}
}

/** The most likely answers of a model to questions. */
async function answersOf(model: string, questions: readonly string[]): Promise<string[]> {
  const engine = await startEngine(model, {threads: 1, numCtx: 0})
  try {
    return await Promise.all(
      questions.map(async (question) => {
        let answer = ''
        const prompt = {
          kind: 'chat',
          messages: [{role: 'user', content: question}],
          overflow: 'refuse',
        } as const
        const sampling = {...defaultSampling, temperature: 0}
        for await (const event of engine.generate({prompt, maxTokens: 80, stop: [], sampling}))
          if (event.type === 'text') answer += event.text
        return answer
      }),
    )
  } finally {
    await engine.close()
  }
}

/** Whether an answer of the guide says that it does not know. */
const saysItDoesNotKnow = (answer: string): boolean => /^I (do not know|only know svc)/.test(answer)

/** How often the guide is right, says that it does not know, and is wrong: about svc, and about something else. */
export async function judgeGuide(asked: readonly Question[]) {
  const answers = await answersOf(
    guideRun,
    asked.map(({question}) => question),
  )
  const counts = {own: 0, right: 0, notKnown: 0, wrong: 0, foreign: 0, refused: 0}
  asked.forEach(({from, must, mustNot}, i) => {
    const answer = (answers[i] ?? '').toLowerCase()
    const isNotKnown = saysItDoesNotKnow(answers[i] ?? '')
    const has = (word: string) => answer.includes(word.toLowerCase())
    if (from === 'foreign') {
      counts.foreign++
      if (isNotKnown) counts.refused++
      return
    }
    counts.own++
    if (must.every(has) && !mustNot.some(has)) counts.right++
    else if (isNotKnown) counts.notKnown++
    else counts.wrong++
  })
  return counts
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
