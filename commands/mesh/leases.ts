import {Flags} from '@oclif/core'
import {asLease, controlUrlFlag, formatLeases, MeshCommand, nodeFlag, tableFlags} from '../../src/cli/index.js'
import {formatMoment} from '../../src/config/index.js'
import type {MeshLeaseV1} from '../../src/contracts/index.js'

const verbs = ['grant', 'renew', 'release', 'verify'] as const

/** A verb flag, exclusive with the others. */
const verb = (name: (typeof verbs)[number], description: string) => ({
  description,
  exclusive: verbs.filter((other) => other !== name),
})

/** A verb flag for an existing lease. */
const leaseVerb = (name: (typeof verbs)[number], description: string, dependsOn: string[] = []) =>
  Flags.string({...verb(name, description), helpValue: 'LEASE', dependsOn, parse: asLease(`--${name}`)})

export default class MeshLeases extends MeshCommand<typeof MeshLeases> {
  static override summary = 'List leases, or grant, renew, release or verify one.'
  static override description =
    `A lease on a key is held by one node at a time, and expires if it is not renewed. Its id is a fencing token that
increases with every change of holder; receivers of work should reject older ids. Listing requires a token of the role
admin or mesh; the other actions also accept the role worker.

--grant prints the lease id. --renew exits with status 3 if the lease has expired and with 4 if another node holds it;
in both cases, stop the leased work. Releasing an expired lease is not an error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'lease=$(<%= config.bin %> <%= command.id %> --grant task:42)',
    '<%= config.bin %> <%= command.id %> --renew "$lease" && <%= config.bin %> <%= command.id %> --verify "$lease" --key task:42',
    '<%= config.bin %> <%= command.id %> --release "$lease"',
  ]
  static override flags = {
    ...tableFlags,
    ...controlUrlFlag,
    grant: Flags.string({
      ...verb('grant', 'Key to lease; if this node already holds the lease, it is renewed.'),
      helpValue: 'KEY',
    }),
    renew: leaseVerb('renew', 'Id of the lease to renew.'),
    release: leaseVerb('release', 'Id of the lease to release.'),
    verify: leaseVerb('verify', 'Id of the lease to verify; prints the holder and expiry.', ['key']),
    key: Flags.string({
      description: 'Key of the lease to verify; required by --verify.',
      helpValue: 'KEY',
      dependsOn: ['verify'],
    }),
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
    await this.output.result({leases}, () => formatLeases(leases, this.view))
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
    const until = formatMoment(found.expires_unix_ms)
    await this.#print({lease_id: lease, state: 'held', ...found}, `held by ${found.holder_node_id} until ${until}`)
  }

  async #print(lease: MeshLeaseV1, text: string): Promise<void> {
    await this.output.result(lease, () => text)
  }
}
