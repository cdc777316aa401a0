/**
 * Fails when an installed dependency, direct or not, declares that it does not run on the oldest Node we support.
 * better-sqlite3 is the exception: on Node 20 svc uses an older major version of it.
 */
import {readFileSync} from 'node:fs'
import {satisfies} from 'semver'

const oldest = '20.19.0'
const exceptions = ['node_modules/better-sqlite3']
const {packages} = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
const refusing = Object.entries(packages).filter(
  ([path, {engines}]) => engines?.node !== undefined && !exceptions.includes(path) && !satisfies(oldest, engines.node),
)
for (const [path, {version, engines}] of refusing)
  process.stderr.write(`${path}@${version} requires Node ${engines.node}, which excludes ${oldest}.\n`)
if (refusing.length > 0) process.exit(1)
process.stdout.write(`${Object.keys(packages).length} packages checked for Node ${oldest}.\n`)
