import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {compileSchema, contractViolations, type Schema} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {aliases, operationTools, type Tool, ToolRegistry, tiersOf} from '../../src/mcp/index.js'
import {listTool} from '../../src/mcp/list-tool.js'
import {operations} from '../../src/operations/index.js'
import {countTokens} from './count-tokens.js'
import {registryDocument} from './registry-document.js'
import {aliasesFile, aliasesText, publishedNames, registryFile, registryText} from './write-registry.js'

const tools = operationTools()
const registry = new ToolRegistry(tools)
const names = tools.map(({name}) => name)
const byDefault = registry.listed(tiersOf(['core']))

describe('tool registry', () => {
  it('has unique names and aliases', () => {
    const all = [...names, ...Object.keys(aliases)]
    assert.deepEqual(
      all.filter((name, i) => all.indexOf(name) !== i),
      [],
    )
  })

  it('keeps every published name as a tool or alias', async () => {
    const published = await publishedNames()
    assert.deepEqual(
      published.filter((name) => !names.includes(name) && !names.includes(aliases[name] ?? '')),
      [],
      'add the old name of a renamed tool to src/mcp/aliases.ts',
    )
    assert.deepEqual(
      names.filter((name) => !published.includes(name)),
      [],
      'unpublished names; run node dist/test/mcp/write-registry.js',
    )
  })

  it('keeps the plan tools under their own names', () => {
    for (const name of ['svc_plan', 'svc_replan', 'svc_plan_status']) {
      assert.ok(names.includes(name), name)
      assert.equal(aliases[name], undefined)
    }
  })

  it('matches the checked-in lists', async () => {
    assert.equal(await readFile(registryFile, 'utf8'), registryText(), 'node dist/test/mcp/write-registry.js')
    assert.equal(await readFile(aliasesFile, 'utf8'), aliasesText(), 'node dist/test/mcp/write-registry.js')
    assert.deepEqual(await contractViolations('mcp/tool-registry.v1', registryDocument()), [])
    assert.deepEqual(await contractViolations('mcp/tool-aliases.v1', JSON.parse(aliasesText())), [])
  })

  it('resolves aliases to tools and does not list them', () => {
    for (const [alias, canonical] of Object.entries(aliases)) {
      assert.ok(names.includes(canonical), `${alias} refers to the unknown tool ${canonical}`)
      assert.equal(registry.find(alias).name, canonical)
    }
    const listed = registry.listed(tiersOf(['all'])).map(({name}) => name)
    assert.deepEqual(listed, names)
  })

  it('finds a tool by its former name', () => {
    const renamed = new ToolRegistry(tools, {svc_enqueue: 'svc_submit_task'})
    assert.equal(renamed.find('svc_enqueue').name, 'svc_submit_task')
  })

  it('finds every tool by its name and rejects other names', () => {
    for (const name of names) assert.equal(registry.find(name).name, name)
    for (const name of ['svc_submit_taks', 'constructor', '__proto__', ''])
      assert.throws(
        () => registry.find(name),
        (error) => isErrorOf(error, 'unknown_tool'),
        name,
      )
    assert.throws(() => registry.find('svc_submit_taks'), /svc_submit_task\b/)
  })

  for (const [words, tiers] of [
    [['core'], ['core']],
    [
      ['dev', 'advanced'],
      ['dev', 'advanced'],
    ],
    [['all'], ['core', 'dev', 'advanced']],
  ] as const)
    it(`lists the tiers ${tiers} for ${words}`, () => {
      const listed = registry.listed(tiersOf(words))
      assert.deepEqual(
        listed.map(({name}) => name),
        tools.filter(({tier}) => (tiers as readonly string[]).includes(tier)).map(({name}) => name),
      )
      assert.ok(listed.length > 0)
    })
})

describe('each tool', () => {
  for (const tool of tools) {
    const {name, listed} = tool
    const operation = operations.find((row) => row.bindings.tool?.name === name)
    it(`${name} lists valid object schemas`, async () => {
      assert.match(name, /^svc_[a-z0-9_]+$/)
      assert.match(listed.description, /^[A-Z].*\.$/)
      for (const schema of [listed.inputSchema, listed.outputSchema ?? {type: 'object'}]) {
        assert.equal(schema.type, 'object')
        const check = await compileSchema(schema, name)
        if (schema === listed.outputSchema) assert.deepEqual(check({success: false, code: 'x'}), [])
      }
    })

    it(`${name} has the hints of its operation`, () => {
      const {annotations} = listed
      assert.equal(annotations.title, operation?.title)
      assert.equal(annotations.readOnlyHint, operation?.effect === 'read')
      assert.equal(annotations.openWorldHint, operation?.openWorld ?? false)
      if (annotations.readOnlyHint) return
      assert.equal(annotations.destructiveHint, operation?.effect === 'destructive')
      assert.equal(annotations.idempotentHint ?? false, operation?.idempotent)
    })

    it(`${name} lists its lane and tier, and whether a read-only client may call it`, () => {
      const {_meta: meta} = listTool(tool)
      const {lane, tier} = operation?.bindings.tool ?? {}
      assert.deepEqual([meta.svc_product_lane, meta.svc_tier], [lane, tier])
      assert.equal('svc_http_read_role_eligible' in meta, operation?.effect === 'read' && lane !== 'ai')
    })

    it(`${name} lists the ids that it creates, and all of its required input`, () => {
      const output = operation?.bindings.tool?.output ?? operation?.output ?? {}
      const {required: ids = []} = output as {required?: string[]}
      const given = (tool.input.required as string[] | undefined) ?? []
      assert.deepEqual(listed.inputSchema.required ?? [], given)
      const {data} = (listed.outputSchema?.properties ?? {}) as Record<string, Schema>
      const created = ids.filter((member) => member.endsWith('_id') && !given.includes(member))
      assert.deepEqual(Object.keys(data?.properties ?? {}), created)
      for (const member of (listed.inputSchema.required as string[] | undefined) ?? [])
        assert.ok(Object.hasOwn(listed.inputSchema.properties as object, member), member)
    })
  }
})

/** Maximum size of the tool list, which a model reads before every conversation, in tokens of o200k_base. */
const maxTokens = 3000

const asText = (listed: readonly Tool[]) => JSON.stringify({tools: listed.map(listTool)})

/** Lists the largest tools, for the failure message. */
function biggest(): string {
  const sizes = byDefault.map((tool) => ({name: tool.name, tokens: countTokens(JSON.stringify(listTool(tool)))}))
  const rows = sizes.sort((a, b) => b.tokens - a.tokens).slice(0, 8)
  return `the largest of ${byDefault.length}: ${rows.map(({name, tokens}) => `${name} ${tokens}`).join(', ')}`
}

describe('default tool list', () => {
  it('has at most 3,000 tokens', () => {
    const tokens = countTokens(asText(byDefault))
    assert.ok(tokens <= maxTokens, `${tokens} tokens; ${biggest()}`)
  })
})
