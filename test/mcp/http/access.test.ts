import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {registries, requireReadable, roleOf} from '../../../src/mcp/http/access.js'
import {operationTools, ToolRegistry} from '../../../src/mcp/registry.js'
import {projectFile} from '../../support/project.js'

const registry = new ToolRegistry(operationTools())
const namesOf = ({tools}: ToolRegistry) => tools.map(({name}) => name)
const lists = {allowedTools: [], readRoleAllowedTools: []}

describe('the role of an HTTP client', () => {
  const tokens = {...lists, token: 'writer', readToken: 'reader'}

  it('depends on its token', () => {
    assert.deepEqual(
      ['writer', 'reader', 'other', undefined].map((sent) => roleOf(tokens, sent)),
      ['write', 'read', undefined, undefined],
    )
  })

  it('is write without tokens, but not with only a read token', () => {
    assert.equal(roleOf({...tokens, token: undefined, readToken: undefined}, undefined), 'write')
    assert.equal(roleOf({...tokens, token: undefined}, undefined), undefined)
  })
})

describe('the tools of the roles', () => {
  it('are all tools, and those that the registry marks as eligible', () => {
    const document = JSON.parse(readFileSync(projectFile('contracts/mcp/tool-registry.v1.json'), 'utf8')) as {
      tools: {name: string; http_read_role_eligible?: boolean}[]
    }
    const {write, read} = registries(registry, lists)
    assert.deepEqual(namesOf(write), namesOf(registry))
    const eligible = document.tools.filter((tool) => tool.http_read_role_eligible).map(({name}) => name)
    assert.deepEqual(namesOf(read).sort(), eligible.sort())
  })

  it('are limited by the lists', () => {
    const allowedTools = ['svc_submit_task', 'svc_task_status', 'svc_orchestrator_status']
    const {write, read} = registries(registry, {allowedTools, readRoleAllowedTools: ['svc_task_status']})
    assert.deepEqual([namesOf(write).sort(), namesOf(read)], [allowedTools.toSorted(), ['svc_task_status']])
    assert.throws(() => read.find('svc_submit_task'), {code: 'unknown_tool'})
  })

  it('are refused if a list has an unknown name, or the read list a tool that writes', () => {
    assert.throws(() => registries(registry, {...lists, allowedTools: ['svc_nothing']}), {code: 'unknown_tool'})
    assert.throws(() => registries(registry, {...lists, readRoleAllowedTools: ['svc_submit_task']}), {code: 'usage'})
  })
})

describe('a client that may only read', () => {
  it('can call tools, but not read resources, alone or in a batch', () => {
    for (const method of ['initialize', 'tools/list', 'tools/call', 'notifications/initialized', 'ping'])
      requireReadable({method})
    requireReadable({result: {}})
    requireReadable(undefined)
    assert.throws(() => requireReadable({method: 'resources/read'}), {code: 'role_denied'})
    assert.throws(() => requireReadable([{method: 'ping'}, {method: 'prompts/get'}]), {code: 'role_denied'})
  })
})
