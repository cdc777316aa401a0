import {SvcError} from '../errors/index.js'
import {type InferenceEndpoint, inferenceClient, modelFacts, servedModels} from '../inference-client/index.js'
import type {KnownProgram} from './programs.js'
import type {Target} from './settings.js'

/** A model of a running server, and what a program should know about it. */
export interface ServedTarget {
  target: Target
  /** Sentences about what the model lacks for the program. */
  warnings: readonly string[]
}

/**
 * The model that a running server has for a program: the wanted one, else the configured or the only one.
 * @returns undefined if the server does not answer or does not have the model
 * @throws launch_model_ambiguous; the reason of the signal
 */
export async function findModel(
  endpoint: InferenceEndpoint,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const client = inferenceClient(endpoint, {attempts: 1})
  try {
    const names = await servedModels(client, signal)
    const isNamed = (name: string) => (model: string) => model === name || model === `${name}:latest`
    if (wanted !== undefined) return names.find(isNamed(wanted))
    const configured = names.find(isNamed(endpoint.model))
    if (configured === undefined && names.length > 1)
      throw new SvcError('launch_model_ambiguous', {server: endpoint.baseUrl, models: names})
    return configured ?? names[0]
  } finally {
    await client.close()
  }
}

/** What a program is given for a model of a server, with warnings. @throws the reason of the signal */
export async function targetOf(
  program: Pick<KnownProgram, 'title' | 'contextLength'>,
  endpoint: InferenceEndpoint,
  model: string,
  signal: AbortSignal,
): Promise<ServedTarget> {
  const client = inferenceClient(endpoint, {attempts: 1})
  try {
    const {contextLength, capabilities} = await modelFacts(client, model, signal)
    return {
      target: {baseUrl: endpoint.baseUrl, model, contextLength},
      warnings: [
        ...(capabilities === undefined || capabilities.includes('tools')
          ? []
          : [`${model} cannot call tools, and ${program.title} can only chat with it.`]),
        ...(contextLength === undefined || contextLength >= program.contextLength
          ? []
          : [
              `The context of ${model} has ${contextLength} tokens, and ${program.title} needs about ${program.contextLength}: set --num-ctx, if the model supports it.`,
            ]),
      ],
    }
  } finally {
    await client.close()
  }
}
