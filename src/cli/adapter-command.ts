import {type Command, Flags} from '@oclif/core'
import type {InferenceClient} from '../inference-client/index.js'
import {SvcCommand} from './command.js'
import {serverFlag} from './model-flag.js'

/** Flags of commands that change the adapters of a server. */
export const adminFlags = {
  server: serverFlag,
  'admin-key-env': Flags.string({
    description: 'Environment variable that contains the admin key of the server.',
    default: 'SVC_ADMIN_KEY',
    helpValue: 'NAME',
  }),
}

/** Base of commands about the adapters of a server. */
export abstract class AdapterCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  /**
   * Calls the server that the flag or the settings name.
   * @param keyVariable variable with the key to send; undefined or unset: that of other requests
   */
  protected async withServer(
    keyVariable: string | undefined,
    work: (client: InferenceClient, server: string) => Promise<void>,
  ): Promise<void> {
    const {inferenceClient, resolveEndpoint} = await import('../inference-client/index.js')
    const {server: url} = this.flags as {server?: string}
    const {endpoint, warnings} = resolveEndpoint(this.settingSources(), url === undefined ? {} : {url})
    this.report(warnings)
    const key = keyVariable === undefined ? undefined : process.env[keyVariable]?.trim() || undefined
    const client = inferenceClient({...endpoint, apiKey: key ?? endpoint.apiKey}, {attempts: 1})
    try {
      await work(client, endpoint.baseUrl)
    } finally {
      await client.close()
    }
  }
}
