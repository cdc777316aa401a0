import {meshSettings, resolveSettings, type SettingSources} from '../config/index.js'
import type {SpeechPort} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {ActivityPorts} from '../workflow/index.js'

/** What the services of workflow activities are made of. */
export interface WorkflowServices {
  readonly sources: SettingSources
  readonly version: string
  readonly speech: SpeechPort
}

/** The services of workflow activities; their modules are loaded when an activity needs them. */
export function workflowPorts(orchestrator: Orchestrator, {sources, version, speech}: WorkflowServices): ActivityPorts {
  const {controlUrl} = resolveSettings(meshSettings, sources).values
  return {
    env: process.env,
    async transcribe({file, language}, signal) {
      const hooks = {signal, report: () => undefined, notice: () => undefined}
      const request = {path: file, ...(language === undefined ? {} : {language_hint: language})}
      const {text, confidence, model, language: spoken, duration_ms} = await speech.transcribe(request, hooks)
      return {text, confidence, model: model ?? null, language: spoken ?? null, duration_ms: duration_ms ?? null}
    },
    async generate({prompt, system, temperature, maxTokens, json}, signal) {
      const {anyJson, askEndpoint, resolveEndpoint} = await import('../inference-client/index.js')
      const {endpoint} = resolveEndpoint(sources)
      const ask = await askEndpoint(sources, signal)
      const instructions = [system, json ? 'Answer with one JSON value and nothing else.' : undefined].filter(Boolean)
      const messages = [
        ...(instructions.length === 0 ? [] : [{role: 'system' as const, content: instructions.join('\n')}]),
        {role: 'user' as const, content: prompt},
      ]
      const format = json ? anyJson : undefined
      const text = await ask(messages, {maxTokens: maxTokens ?? endpoint.maxTokens, temperature, format, signal})
      return {text, model: endpoint.model}
    },
    mesh:
      controlUrl === undefined
        ? undefined
        : async () => {
            const {claimerLabel, configuredClient, selfRecord} = await import('../mesh/index.js')
            const {claimerOf, replyAgentOf} = await import('../delegation/index.js')
            const claimer = claimerOf(orchestrator)
            const node = await selfRecord(sources, version)
            const scope = node.scope_id === undefined ? {} : {scope_id: node.scope_id}
            return {
              client: configuredClient(sources, controlUrl, claimer),
              node,
              agent: replyAgentOf(orchestrator.config, claimer),
              claimer: {id: claimer, version, capabilities: {labels: [claimerLabel]}, ...scope},
            }
          },
    async countLocalNodes() {
      const {readLocalRegistry, registryPath} = await import('../mesh/index.js')
      return (await readLocalRegistry(registryPath(sources))).nodes.length
    },
  }
}
