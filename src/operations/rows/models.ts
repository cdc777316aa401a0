import type {InferenceClient, RunningModel} from '../../inference-client/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {list, object, oneOf, text} from '../schema.js'

/** Maximum time without data from the server, ms: a person waits for the answer. */
const idleTimeoutMs = 10_000

/** Calls the configured inference server. @throws what `HttpClient.json` throws */
async function withServer<T>(
  {sources}: OperationContext,
  work: (client: InferenceClient, library: typeof import('../../inference-client/index.js')) => Promise<T>,
): Promise<T> {
  const library = await import('../../inference-client/index.js')
  const client = library.inferenceClient(library.resolveEndpoint(sources).endpoint, {attempts: 1, idleTimeoutMs})
  try {
    return await work(client, library)
  } finally {
    await client.close()
  }
}

const nullable = (type: 'integer' | 'string', description: string) => ({type: [type, 'null'], description})

/** The models of the inference server that the workspace uses: `svc serve` or Ollama. */
export const modelOperations: readonly Operation[] = [
  operation<object, {server: string; models: RunningModel[]}>({
    name: 'list_loaded_models',
    title: 'List loaded models',
    summary: 'List the models that the inference server has in memory.',
    effect: 'read',
    idempotent: true,
    openWorld: true,
    input: object({}),
    output: object(
      {
        server: text('Base URL of the server.'),
        models: list(
          object(
            {
              name: text(),
              memory_bytes: nullable('integer', 'Null if the server does not say.'),
              context_length: nullable('integer', 'Tokens; null if the server does not say.'),
              unloads_at: nullable('string', 'ISO 8601; null if it stays loaded.'),
            },
            {required: ['name', 'memory_bytes', 'context_length', 'unloads_at']},
          ),
        ),
      },
      {required: ['server', 'models']},
    ),
    bindings: {rpc: {method: 'models.loaded'}},
    run: (_, context) =>
      withServer(context, async (client, {runningModels}) => ({
        server: client.baseUrl,
        models: await runningModels(client, context.signal),
      })),
  }),
  operation<{model: string}, {state: 'unloaded' | 'unloading' | 'not_loaded'}>({
    name: 'unload_model',
    title: 'Unload a model',
    summary: 'Let the inference server free the memory of a model; running replies end first.',
    effect: 'write',
    idempotent: true,
    openWorld: true,
    input: object(
      {model: text('Name of the model, as listed.', {minLength: 1, maxLength: 256})},
      {required: ['model']},
    ),
    output: object(
      {state: oneOf(['unloaded', 'unloading', 'not_loaded'], 'unloading: it is still answering requests.')},
      {required: ['state']},
    ),
    bindings: {rpc: {method: 'models.unload'}},
    run: ({model}, context) =>
      withServer(context, async (client, {unloadModel}) => ({state: await unloadModel(client, model, context.signal)})),
  }),
]
