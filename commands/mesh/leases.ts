import {Flags} from '@oclif/core'
import {asLease, controlUrlFlag, formatLeases, MeshCommand, nodeFlag} from '../../src/cli/index.js'
import type {MeshLeaseV1} from '../../src/contracts/index.js'

const verbs = ['grant', 'renew', 'release', 'verify'] as const

/** One of them at a time. */
const verb = (name: (typeof verbs)[number], description: string) => ({
  description,
  exclusive: verbs.filter((other) => other !== name),
})

/** One that is about a lease that there is. */
const leaseVerb = (name: (typeof verbs)[number], description: string, dependsOn: string[] = []) =>
  Flags.string({...verb(name, description), helpValue: 'LEASE', dependsOn, parse: asLease(`--${name}`)})

export default class MeshLeases extends MeshCommand<typeof MeshLeases> {
  static override summary = 'List the leases of a mesh, or take, renew, verify and give back one.'
  static override description =
    `A lease on a key is held by one node at a time. Its id is a number that grows with every change of holder: whoever gets
work checks it, and refuses that of an older holder. A lease that is not renewed ends by itself. Listing takes the token of
an administrator or of the role mesh; the rest that of a worker.

With --grant the id is printed. --renew ends with 3 where the lease has ended, and with 4 where another node has it: then
stop what it stood for. --release of a lease that has ended is no error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'lease=$(<%= config.bin %> <%= command.id %> --grant task:42)',
    '<%= config.bin %> <%= command.id %> --renew "$lease" && <%= config.bin %> <%= command.id %> --verify "$lease" --key task:42',
    '<%= config.bin %> <%= command.id %> --release "$lease"',
  ]
  static override flags = {
    ...controlUrlFlag,
    grant: Flags.string({
      ...verb('grant', 'Take the lease on this key, or the one that this node has anew.'),
      helpValue: 'KEY',
    }),
    renew: leaseVerb('renew', 'Hold this lease for longer.'),
    release: leaseVerb('release', 'Give this lease back.'),
    verify: leaseVerb('verify', 'Say who holds this lease, and until when.', ['key']),
    key: Flags.string({description: 'The key that the lease must be on.', helpValue: 'KEY', dependsOn: ['verify']}),
    ...nodeFlag,
  }

  async run(): Promise<void> {
    const {grant, renew, release, verify, key} = this.flags
    if (grant !== undefined) return this.#grant(grant)
    if (renew !== undefined) return this.#renew(renew)
    if (release !== undefined) return this.#release(release)
    if (verify !== undefined && key !== undefined) return this.#verify(verify, key)
    const client = await this.client()
    const leases = await client.listLeases({signal: this.signal})
    await this.output.result({leases}, () => formatLeases(leases))
  }

  async #grant(scopeKey: string): Promise<void> {
    const claimer = await this.node()
    const client = await this.client(claimer)
    const lease = await client.grantLease({scopeKey, claimer}, {signal: this.signal})
    await this.#print({...lease, state: 'granted'}, lease.lease_id)
  }

  async #renew(lease: string): Promise<void> {
    const claimer = await this.node()
    const client = await this.client(claimer)
    await client.renewLease({lease, claimer}, {signal: this.signal})
    await this.#print({lease_id: lease, state: 'renewed', holder_node_id: claimer}, 'renewed')
  }

  async #release(lease: string): Promise<void> {
    const claimer = await this.node()
    const client = await this.client(claimer)
    const isReleased = await client.releaseLease({lease, claimer}, {signal: this.signal})
    await this.#print(
      {lease_id: lease, state: isReleased ? 'released' : 'not_found'},
      isReleased ? 'released' : 'not found',
    )
  }

  async #verify(lease: string, scopeKey: string): Promise<void> {
    const client = await this.client()
    const {valid: _, ...found} = await client.verifyLease({lease, scopeKey}, {signal: this.signal})
    const until = new Date(found.expires_unix_ms).toISOString()
    await this.#print({lease_id: lease, state: 'held', ...found}, `${found.holder_node_id} holds it until ${until}`)
  }

  async #print(lease: MeshLeaseV1, text: string): Promise<void> {
    await this.output.result(lease, () => text)
  }
}
