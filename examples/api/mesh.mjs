// Starts a control plane, joins it and holds a lease: node examples/api/mesh.mjs
import {createMeshClient, holdLease, openControlPlane} from 'svc-toolkit/mesh'

const controlPlane = await openControlPlane(':memory:')
const client = createMeshClient({baseUrl: controlPlane.baseUrl, tokens: {}})
await client.join({id: 'laptop', version: '1.0.0', capabilities: {}})
const held = await holdLease(client, {scopeKey: 'nightly-report', claimer: 'laptop'})
process.stdout.write(`laptop holds nightly-report with fencing token ${held.lease.fence_token}\n`)
await held.release()
await client.close()
await controlPlane.close(1000)
