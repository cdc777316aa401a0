import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {batchOrder, normaliseManifest, type Task} from '../../tasks/index.js'
import {taskCategories} from '../../workspace/index.js'

import {asksForChange} from '../drafting/files.js'
import {categoryOf, complexityOf} from '../drafting/kind.js'
import type {DraftStep} from '../drafting/step.js'
import {triggersOf} from '../drafting/triggers.js'

/** A parsed answer: the steps, or why it is invalid. */
export type Reading = {steps: DraftStep[]} | {fault: string}

export interface ReadOptions {
  /** Root of the workspace: files outside it are rejected. */
  root: string
  /** Maximum number of steps; further steps are dropped. */
  limit: number
}

const maxDescriptionLength = 4000
const maxFiles = 200

/** Most characters of a path, so that a model cannot repeat itself without end. */
const maxPathLength = 300

/** JSON Schema of an answer. `readSteps` still checks it, because not every server enforces schemas. */
export const stepsSchema = {
  type: 'array',
  minItems: 1,
  maxItems: 100,
  items: {
    type: 'object',
    properties: {
      id: {type: 'integer', minimum: 1, maximum: 100},
      description: {type: 'string', minLength: 1, maxLength: maxDescriptionLength},
      files: {type: 'array', items: {type: 'string', minLength: 1, maxLength: maxPathLength}, maxItems: maxFiles},
      category: {enum: taskCategories},
      estimated_complexity: {type: 'integer', minimum: 1, maximum: 10},
      depends_on: {type: 'array', items: {type: 'integer', minimum: 1, maximum: 100}, maxItems: 100},
    },
    required: ['id', 'description'],
    additionalProperties: false,
  },
} as const

/** Parses the steps in a model's answer. Unknown members are ignored. */
export function readSteps(text: string, options: ReadOptions): Reading {
  try {
    const elements = elementsOf(text)
    const order = placesOf(elements)
    const steps = elements.map((element, place) => readStep(element, {place, order, ...options}))
    requireOrder(steps)
    return {steps: steps.slice(0, options.limit).map((step) => within(step, options.limit))}
  } catch (error) {
    if (error instanceof Unfit) return {fault: error.message}
    throw error
  }
}

/** An answer that is not a plan; the message gives the reason as a clause. */
class Unfit extends Error {}

type Element = Readonly<Record<string, unknown>>

function elementsOf(text: string): Element[] {
  const value = parse(arrayText(text))
  if (!Array.isArray(value)) throw new Unfit('it is not a JSON array')
  if (value.length === 0) throw new Unfit('the array has no steps')
  for (const [i, element] of value.entries())
    if (!isObject(element)) throw new Unfit(`element ${i + 1} is not an object`)
  return value as Element[]
}

/** The array, without tags, code fence or text around it. */
function arrayText(text: string): string {
  const tagged = /<execute>([\s\S]*?)(?:<\/execute>|$)/i.exec(text)?.[1] ?? text
  const fenced = /```(?:json)?\s*\n([\s\S]*?)```/i.exec(tagged)?.[1] ?? tagged
  const [from, to] = [fenced.indexOf('['), fenced.lastIndexOf(']')]
  return from === -1 || to < from ? fenced : fenced.slice(from, to + 1)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unfit('it is not JSON')
  }
}

/** Position of each step, from 0, by id; a step without an id has its position, from 1, as its id. */
function placesOf(elements: readonly Element[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (const [place, {id = place + 1}] of elements.entries()) {
    if (typeof id !== 'number' || !Number.isSafeInteger(id))
      throw new Unfit(`the id of step ${place + 1} is not a whole number`)
    if (places.has(id)) throw new Unfit(`two steps have the id ${id}`)
    places.set(id, place)
  }
  return places
}

interface Place extends ReadOptions {
  place: number
  order: ReadonlyMap<number, number>
}

function readStep(element: Element, {place, order, root}: Place): DraftStep {
  const refuse = (fault: string): never => {
    throw new Unfit(`step ${place + 1} ${fault}`)
  }
  const {description, files = [], category, estimated_complexity: complexity, depends_on: after} = element
  if (typeof description !== 'string' || description.trim() === '') return refuse('has no description')
  if (description.length > maxDescriptionLength)
    return refuse(`has a description of more than ${maxDescriptionLength} characters`)
  if (!isTexts(files) || files.length > maxFiles) return refuse('has an invalid list of files')
  if (category !== undefined && !isCategory(category)) return refuse('has an unknown category')
  if (complexity !== undefined && !isComplexity(complexity)) return refuse('has a complexity that is not from 1 to 10')
  if (after !== undefined && !isIds(after)) return refuse('has dependencies that are not a list of ids')
  const text = description.trim()
  return {
    description: text,
    dependsOn:
      after === undefined
        ? before(place)
        : [...new Set(after)].map((id) => order.get(id) ?? refuse(`depends on ${id}, which is not a step`)),
    files: manifest(root, text, files) ?? refuse('has a file outside the workspace'),
    category: category ?? categoryOf(text),
    complexity: complexity ?? complexityOf(text),
    ...(category === 'testing' ? {role: 'verifier' as const} : {}),
    triggers: triggersOf(text),
  }
}

/** A step without dependencies depends on the previous step. */
const before = (place: number): number[] => (place === 0 ? [] : [place - 1])

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const isIds = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number')

const isCategory = (value: unknown): value is Task['category'] => taskCategories.some((one) => one === value)

const isComplexity = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 10

function manifest(root: string, description: string, files: readonly string[]) {
  const access = asksForChange(description) ? 'write' : 'read'
  try {
    return normaliseManifest(
      root,
      files.map((path) => ({path, access})),
    )
  } catch (error) {
    if (error instanceof SvcError) return undefined
    throw error
  }
}

function requireOrder(steps: readonly DraftStep[]): void {
  try {
    const dependencies = steps.map(({dependsOn}) => dependsOn)
    batchOrder(dependencies, (place) => `Step ${place + 1}`)
  } catch (error) {
    if (error instanceof SvcError) throw new Unfit('the dependencies of its steps form a cycle')
    throw error
  }
}

/** Removes dependencies on dropped steps. */
const within = (step: DraftStep, limit: number): DraftStep => ({
  ...step,
  dependsOn: step.dependsOn.filter((place) => place < limit),
})
