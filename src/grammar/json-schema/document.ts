import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

export type JsonObject = {readonly [key: string]: unknown}

/** A subschema at its place in the document. Each object has one; `id` is unique in the document. */
export interface Subschema {
  readonly id: number
  readonly keywords: JsonObject
  /** JSON pointer as a fragment. */
  readonly pointer: string
  readonly resource: Resource
  /** The keyword at the pointer that a derived subschema replaces. Errors name it instead of those that replace it. */
  readonly replaces: string | undefined
}

/** A schema with an identifier of its own, or the document. */
interface Resource {
  readonly base: string
  readonly root: unknown
  readonly pointer: string
  readonly draft: Draft
}

type Draft = 4 | 6 | 7 | 2019 | 2020

const drafts: readonly (readonly [string, Draft])[] = [
  ['draft-04', 4],
  ['draft-06', 6],
  ['draft-07', 7],
  ['2019-09', 2019],
  ['2020-12', 2020],
]
/** Keywords whose values are not schemas; identifiers in them are data. */
const dataKeywords = new Set(['enum', 'const', 'default', 'examples', 'example'])
/** Keywords whose values are objects of schemas; their keys are names. */
const mapKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
const maxDepth = 400
const falseKeywords: JsonObject = {not: {}}
const trueKeywords: JsonObject = {}

/** Finds half of a surrogate pair. */
export const surrogate = /\p{Surrogate}/u

/** True for the keywords of negations, which no document has. */
export const isInternal = (keyword: string): boolean => keyword.startsWith('svc ')

/** Needs no escape in a pointer. */
const plainPart = /^[\w-]+$/

const escapePointer = (part: string | number): string => {
  if (typeof part === 'number' || plainPart.test(part)) return String(part)
  const name = String(part).replace(new RegExp(surrogate, 'gu'), '\ufffd')
  return encodeURI(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('#', '%23')
}

export const pointerTo = (pointer: string, ...parts: readonly (string | number)[]): string =>
  [pointer, ...parts.map(escapePointer)].join('/')

/** The subschemas of a document by their place, and what references point to. */
export class SchemaDocument {
  readonly root: Subschema
  readonly #known = new Map<object, Subschema>()
  readonly #derived = new Set<Subschema>()
  readonly #replaced = new Map<object, string>()
  /** Subschemas by absolute identifier, with the anchor as fragment. */
  readonly #identified = new Map<string, {value: unknown; pointer: string; resource: Resource}>()
  readonly #dynamicAnchors = new Map<string, number>()

  constructor(schema: unknown) {
    const draft = isObject(schema) ? draftOf(schema, '#', 2020) : 2020
    const resource: Resource = {base: 'svc:/schema', root: schema, pointer: '#', draft}
    this.#identified.set(resource.base, {value: schema, pointer: '#', resource})
    this.#index(schema, '#', resource)
    this.root = this.subschema(schema, '#', this.#resourceOf(schema, '#', resource))
  }

  /** The subschema at a pointer. Booleans become schemas with the same meaning. */
  subschema(value: unknown, pointer: string, resource: Resource): Subschema {
    if (value === true) return this.#located(trueKeywords, pointer, resource)
    if (value === false) return this.#located(falseKeywords, pointer, resource)
    if (!isObject(value)) {
      throw new SvcError('schema_invalid', {
        keyword: pointer.slice(pointer.lastIndexOf('/') + 1),
        pointer,
        fault: 'is not a schema',
      })
    }
    return this.#located(value, pointer, resource)
  }

  /** A subschema of a keyword: `child(schema, 'properties', 'name')`. */
  child(parent: Subschema, ...path: readonly (string | number)[]): Subschema {
    const {keywords, pointer, resource} = parent
    const value = path.reduce<unknown>((at, part) => (at as JsonObject)[part], keywords)
    if (this.#derived.has(parent)) return this.#child(value, parent)
    const place = pointerTo(pointer, ...path)
    return this.subschema(value, place, this.#resourceOf(value, place, resource))
  }

  /** What only a derived subschema has is derived, too: its place is that of the subschema that was replaced. */
  #child(value: unknown, parent: Subschema): Subschema {
    if (isObject(value) && !this.#known.has(value)) return this.derived(value, parent)
    return this.subschema(value, parent.pointer, parent.resource)
  }

  /**
   * A subschema that replaces another one, or a keyword of it. Objects in it that the document has keep their places.
   * @param replaces default: what `replace` has stated, or the keyword that the other one replaces
   */
  derived(keywords: JsonObject, {pointer, resource, replaces: before}: Subschema, replaces?: string): Subschema {
    if (before !== undefined) this.replace(before, keywords)
    if (replaces !== undefined) this.replace(replaces, keywords)
    const subschema = this.#located(keywords, pointer, resource, keywords)
    this.#derived.add(subschema)
    return subschema
  }

  /** States which keyword a part of a derived subschema will replace; the first statement counts. */
  replace(keyword: string, keywords: JsonObject): void {
    if (!this.#replaced.has(keywords)) this.#replaced.set(keywords, keyword)
  }

  /** What `$ref` of a subschema refers to. Throws `schema_keyword_unsupported` if it is another document. */
  resolve({keywords, pointer, resource}: Subschema, keyword: '$ref' | '$dynamicRef' | '$recursiveRef'): Subschema {
    const reference = keywords[keyword]
    const place = pointerTo(pointer, keyword)
    if (typeof reference !== 'string')
      throw new SvcError('schema_invalid', {keyword, pointer: place, fault: 'is not a string'})
    if (keyword !== '$ref') this.#checkStatic(keyword, reference, place)
    const target = this.#lookUp(reference, resource)
    if (target === undefined) {
      const isLocal = reference.startsWith('#')
      if (isLocal)
        throw new SvcError('schema_invalid', {
          keyword,
          pointer: place,
          fault: `refers to ${reference}, which does not exist`,
        })
      throw new SvcError('schema_keyword_unsupported', {
        keyword,
        pointer: place,
        reason: `${reference} is another document`,
      })
    }
    return this.subschema(target.value, target.pointer, target.resource)
  }

  /** A dynamic reference has one target unless several subschemas have its anchor. */
  #checkStatic(keyword: string, reference: string, pointer: string): void {
    const name = keyword === '$recursiveRef' ? '$recursiveAnchor' : reference.replace(/^[^#]*#/, '')
    if ((this.#dynamicAnchors.get(name) ?? 0) <= (keyword === '$recursiveRef' ? 0 : 1)) return
    throw new SvcError('schema_keyword_unsupported', {
      keyword,
      pointer,
      reason: `several subschemas have the anchor ${name}`,
    })
  }

  #located(
    keywords: JsonObject,
    pointer: string,
    resource: Resource,
    effective = effectiveKeywords(keywords, resource.draft),
  ): Subschema {
    const known = this.#known.get(keywords)
    if (known !== undefined) return known
    const replaces = this.#replaced.get(keywords)
    const located = {id: this.#known.size, keywords: effective, pointer, resource, replaces}
    this.#known.set(keywords, located).set(effective, located)
    return located
  }

  #lookUp(reference: string, resource: Resource): {value: unknown; pointer: string; resource: Resource} | undefined {
    const absolute = resolveUrl(reference, resource.base)
    const hash = absolute.indexOf('#')
    const base = hash === -1 ? absolute : absolute.slice(0, hash)
    const fragment = hash === -1 ? '' : absolute.slice(hash + 1)
    const document = this.#identified.get(base)
    if (fragment === '' || document === undefined) return document
    if (!fragment.startsWith('/')) return this.#identified.get(`${base}#${fragment}`)
    return this.#follow(document, fragment)
  }

  #follow(start: {value: unknown; pointer: string; resource: Resource}, fragment: string) {
    let {value, pointer, resource} = start
    for (const raw of fragment.slice(1).split('/')) {
      const part = decoded(raw).replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
      value = (value as JsonObject)[part]
      pointer = pointerTo(pointer, part)
      resource = this.#resourceOf(value, pointer, resource)
    }
    return {value, pointer, resource}
  }

  /** The resource of a subschema: its own if it has an identifier, or that of its parent. */
  #resourceOf(value: unknown, pointer: string, parent: Resource): Resource {
    const id = identifierOf(value, parent.draft)
    if (id === undefined) return parent
    const base = resolveUrl(id, parent.base).replace(/#$/, '')
    const known = this.#identified.get(base)
    if (known !== undefined && known.value === value) return known.resource
    return {base, root: value, pointer, draft: draftOf(value as JsonObject, pointer, parent.draft)}
  }

  /** Registers the places, identifiers and anchors of a value and of all values in it. */
  #index(value: unknown, pointer: string, parent: Resource, isMap = false, depth = 0): void {
    if (typeof value !== 'object' || value === null) return
    if (depth > maxDepth)
      throw new SvcError('schema_too_large', {
        keyword: pointer.slice(pointer.lastIndexOf('/') + 1),
        pointer,
        limit: `${maxDepth} levels`,
      })
    const resource = isMap || Array.isArray(value) ? parent : this.#resourceOf(value, pointer, parent)
    if (resource !== parent && !this.#identified.has(resource.base))
      this.#identified.set(resource.base, {value, pointer, resource})
    if (isObject(value) && !isMap) {
      this.#located(value, pointer, resource)
      this.#indexAnchors(value, pointer, resource)
    }
    for (const [key, part] of Object.entries(value)) {
      if (isMap || !dataKeywords.has(key))
        this.#index(part, pointerTo(pointer, key), resource, !isMap && mapKeywords.has(key), depth + 1)
    }
  }

  #indexAnchors(value: JsonObject, pointer: string, resource: Resource): void {
    const legacy = value[resource.draft === 4 ? 'id' : '$id']
    const anchors = [
      value.$anchor,
      value.$dynamicAnchor,
      typeof legacy === 'string' && legacy.startsWith('#') ? legacy.slice(1) : undefined,
    ]
    for (const anchor of anchors) {
      if (typeof anchor === 'string') this.#identified.set(`${resource.base}#${anchor}`, {value, pointer, resource})
    }
    const dynamic = value.$recursiveAnchor === true ? '$recursiveAnchor' : value.$dynamicAnchor
    if (typeof dynamic === 'string') this.#dynamicAnchors.set(dynamic, (this.#dynamicAnchors.get(dynamic) ?? 0) + 1)
  }
}

/** The draft that `$schema` names. Throws `schema_keyword_unsupported` for a draft that is not enforced. */
function draftOf({$schema: identifier}: JsonObject, pointer: string, otherwise: Draft): Draft {
  if (typeof identifier !== 'string') return otherwise
  const draft = drafts.find(([name]) => identifier.includes(name))?.[1]
  if (draft === undefined && /json-schema\.org\/draft\b/.test(identifier)) {
    const [keyword, reason] = ['$schema', `the draft ${identifier} is not supported`]
    throw new SvcError('schema_keyword_unsupported', {keyword, pointer: pointerTo(pointer, keyword), reason})
  }
  return draft ?? otherwise
}

/** The first drafts of keywords that draft 4 does not have. Before, they are annotations. */
const firstDrafts: ReadonlyMap<string, Draft> = new Map(
  (
    [
      [6, 'const contains propertyNames'],
      [7, 'if then else'],
      [2019, 'dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains maxContains'],
      [2020, 'prefixItems'],
    ] as const
  ).flatMap(([draft, keywords]) => keywords.split(' ').map((keyword) => [keyword, draft] as const)),
)

/** The keywords of a schema of the document that its draft knows. */
function effectiveKeywords(keywords: JsonObject, draft: Draft): JsonObject {
  const {$ref} = keywords
  // Until draft 7, keywords next to a reference are ignored.
  if (draft <= 7 && typeof $ref === 'string') return {$ref}
  const isIgnored = (keyword: string) => isInternal(keyword) || draft < (firstDrafts.get(keyword) ?? 0)
  if (!Object.keys(keywords).some(isIgnored)) return keywords
  return Object.fromEntries(Object.entries(keywords).filter(([keyword]) => !isIgnored(keyword)))
}

/** `$id`, or `id` of draft 4, without those that are only an anchor. */
function identifierOf(value: unknown, draft: Draft): string | undefined {
  if (!isObject(value)) return undefined
  if (draft <= 7 && typeof value.$ref === 'string') return undefined
  const id = value.$id ?? (draft === 4 ? value.id : undefined)
  return typeof id === 'string' && !id.startsWith('#') ? id : undefined
}

function resolveUrl(reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    return reference
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
