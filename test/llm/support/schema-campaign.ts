import assert from 'node:assert/strict'
import {registerSchema, unregisterSchema, validate} from '@hyperjump/json-schema/draft-2020-12'
import {Ajv2020} from 'ajv/dist/2020.js'
import {compileGrammar, schemaGrammar} from '../../../src/grammar/index.js'
import type {GenerateEvent, LanguageModel} from '../../../src/llm/index.js'
import {defaultSampling, randomSource} from '../../../src/sampling/index.js'

type Schema = Record<string, unknown>

/** A random schema whose values are short, so that a model that writes at random ends most of them. */
export function boundedSchema(random: () => number, depth = 2): Schema {
  const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T
  const size = (most: number) => 1 + Math.floor(random() * most)
  const simple: (() => Schema)[] = [
    () => ({type: 'integer', minimum: -size(50), maximum: size(500)}),
    () => ({type: 'integer', minimum: 0, maximum: 100, multipleOf: size(9)}),
    () => ({type: 'string', maxLength: size(8)}),
    () => ({
      type: 'string',
      pattern: pick('^[a-z]{2,5}$', '^[A-Z][a-z]{0,4}$', '^\\d{3}-\\d{2}$', '^(ab|c)+d$'),
      maxLength: 8,
    }),
    () => ({type: 'boolean'}),
    () => ({type: ['null', 'boolean']}),
    () => ({enum: ['red', 'green', 7, null, true].slice(0, size(5))}),
    () => ({const: pick<unknown>('fixed', 42, {a: [1, 2]}, 'é"\\')}),
  ]
  const nested: (() => Schema)[] = [
    () => {
      const names = ['name', 'age', 'é', 'has "quotes"', 'tags'].slice(0, size(5))
      return {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, boundedSchema(random, depth - 1)])),
        required: names.filter(() => random() < 0.6),
        additionalProperties: false,
      }
    },
    () => ({type: 'array', items: boundedSchema(random, depth - 1), minItems: pick(0, 1), maxItems: size(3)}),
    () => ({
      type: 'array',
      prefixItems: [boundedSchema(random, depth - 1), boundedSchema(random, depth - 1)],
      items: false,
      minItems: 2,
    }),
    () => ({anyOf: [boundedSchema(random, depth - 1), boundedSchema(random, depth - 1)]}),
  ]
  return depth > 0 && random() < 0.75 ? pick(...nested)() : pick(...simple)()
}

/**
 * Generates replies to all schemas and seeds at once at a high temperature. Each must be valid, by two judges, unless it was
 * truncated; then it must be the beginning of a valid one.
 * @returns share of the replies that ended
 */
export async function checkReplies(
  model: LanguageModel,
  schemas: readonly Schema[],
  {seeds, maxTokens}: {seeds: number; maxTokens: number},
): Promise<number> {
  const ajv = new Ajv2020({strict: false, allErrors: false})
  let ended = 0
  await Promise.all(
    schemas.map(async (schema, i) => {
      const isValid = ajv.compile(schema)
      const uri = `https://svc.test/schemas/${i}`
      registerSchema({$schema: 'https://json-schema.org/draft/2020-12/schema', ...schema}, uri)
      try {
        const agrees = await validate(uri)
        const grammar = compileGrammar(schemaGrammar(schema))
        const replies = Array.from({length: seeds}, (_, seed) => replyOf(model, schema, seed, maxTokens))
        for (const {text, reason} of await Promise.all(replies)) {
          const what = `${JSON.stringify(schema)}: ${reason}: ${text}`
          if (reason === 'length') {
            // A character may be incomplete.
            const {length} = text.replace(/\uFFFD$/, '')
            assert.ok(grammar.matcher().accept(Buffer.from(text.slice(0, length))), what)
          } else {
            ended++
            const value = JSON.parse(text) as Parameters<typeof agrees>[0]
            assert.ok(isValid(value), `ajv: ${what}`)
            assert.ok(agrees(value).valid, `hyperjump: ${what}`)
          }
        }
      } finally {
        unregisterSchema(uri)
      }
    }),
  )
  return ended / (schemas.length * seeds)
}

async function replyOf(model: LanguageModel, schema: Schema, seed: number, maxTokens: number) {
  const events: GenerateEvent[] = []
  const sampling = {...defaultSampling, temperature: 1.5, topK: 0, topP: 1, seed}
  const prompt = {kind: 'raw', text: `Number ${seed % 5}: `} as const
  const format = {kind: 'schema', schema} as const
  for await (const event of model.generate({prompt, maxTokens, stop: [], sampling, format})) events.push(event)
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  const last = events.at(-1)
  assert.ok(last?.type === 'done')
  return {text, reason: last.finishReason}
}

export const boundedSchemas = (count: number, seed: number): Schema[] => {
  const random = randomSource(seed)
  return Array.from({length: count}, () => boundedSchema(random))
}
