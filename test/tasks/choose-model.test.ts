import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {chooseModel, costOf, type ModelChoice} from '../../src/inference-client/choose-model.js'
import {routingReason} from '../../src/tasks/models/routing-reason.js'
import {aTask} from '../scheduler/processors/a-task.js'

const registry = ['run-a', 'run-b', 'run-c'].map((id) => ({id}))
const hit = (model: string, fallback = false): ModelChoice => ({model, registryHit: true, fallback})

describe('the model of a task', () => {
  const prices = {'run-a': 0.01, 'run-b': 0.001, 'run-c': 0.001}
  const override = {model_override: 'run-z', model_preference: 'run-b'}
  const cases: readonly [string, Parameters<typeof chooseModel>[1], object, 'performance' | 'economy', ModelChoice][] =
    [
      ['is the first in the registry', {}, prices, 'performance', hit('run-a')],
      ['is its preferred one', {model_preference: 'run-c'}, prices, 'performance', hit('run-c')],
      ['is its preferred one even if that costs more', {model_preference: 'run-a'}, prices, 'economy', hit('run-a')],
      [
        'is the first if its preferred one is unknown',
        {model_preference: 'x'},
        prices,
        'performance',
        hit('run-a', true),
      ],
      [
        'is the cheapest if its preferred one is unknown',
        {model_preference: 'x'},
        prices,
        'economy',
        hit('run-b', true),
      ],
      ['is its required one', {...override, model_override: 'run-c'}, prices, 'economy', hit('run-c')],
      [
        'is its required one even if that is unknown',
        override,
        prices,
        'performance',
        {model: 'run-z', registryHit: false, fallback: false},
      ],
      ['is the cheapest, with ties going to the earlier one', {}, prices, 'economy', hit('run-b')],
      [
        'is assumed to cost 0.003 without a price: less than an expensive one',
        {},
        {'run-a': 0.0031},
        'economy',
        hit('run-b'),
      ],
      [
        'is assumed to cost 0.003 without a price: more than a cheap one',
        {},
        {'run-c': 0.0029},
        'economy',
        hit('run-c'),
      ],
      ['is assumed to cost 0.003 without a price: as much as the first', {}, {'run-c': 0.003}, 'economy', hit('run-a')],
      ['can be free', {}, {'run-c': 0}, 'economy', hit('run-c')],
    ]
  for (const [name, task, priceList, preference, expected] of cases)
    it(name, () =>
      assert.deepEqual(chooseModel(registry, task, priceList as Record<string, number>, preference), expected),
    )

  it('can have the name of an object member', () => {
    const odd = [{id: 'constructor'}, {id: 'run-a'}]
    assert.deepEqual(chooseModel(odd, {}, {'run-a': 0.004}, 'economy'), hit('constructor'))
    assert.equal(costOf('constructor', 1000, {}), 0)
  })
})

describe('the cost of a task', () => {
  it('is computed per 1,000 tokens, and 0 without a price', () => {
    assert.equal(costOf('run-a', 1500, {'run-a': 0.02}), 0.03)
    assert.equal(costOf('run-b', 1500, {'run-a': 0.02}), 0)
  })
})

describe('the reason of a routing decision', () => {
  const task = aTask({id: 12})
  const policy = {costPreference: 'performance', unifiedRouting: false} as const

  it('contains the request and the choice', () => {
    assert.deepEqual(routingReason(task, hit('run-a'), policy), {
      schema_version: 1,
      task_category: 'general',
      estimated_complexity: 5,
      usage_provider: 'local',
      usage_model: 'run-a',
      registry_hit: true,
      cost_preference: 'performance',
      fallback: false,
      route_policy_profile: 'default',
      task_id: 12,
    })
  })

  it('is marked only while the experiment is on', () => {
    const marked = routingReason(task, hit('run-a'), {...policy, unifiedRouting: true})
    assert.equal(
      JSON.stringify(marked),
      '{"schema_version":1,"task_category":"general","estimated_complexity":5,"usage_provider":"local",' +
        '"usage_model":"run-a","registry_hit":true,"cost_preference":"performance","fallback":false,' +
        '"unified_routing_env":true,"route_policy_profile":"default","task_id":12}',
    )
    assert.ok(!('unified_routing_env' in routingReason(task, hit('run-a'), policy)))
  })

  it('fits into 4096 bytes for any model name', () => {
    for (const character of ['x', '\u0001', '\ud800', '𝄞']) {
      const {usage_model: name, ...rest} = routingReason(task, hit(character.repeat(20_000)), policy)
      assert.ok(name.startsWith(character))
      assert.ok(Buffer.byteLength(JSON.stringify({...rest, usage_model: name})) <= 4096)
    }
  })
})
