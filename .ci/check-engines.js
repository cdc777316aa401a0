/** Fails when an installed dependency, direct or not, declares that it does not run on the oldest Node we support. */
import {readFileSync} from 'node:fs'
import {satisfies} from 'semver'

const oldest = '20.19.0'
const {packages} = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
const refusing = Object.entries(packages).filter(
  ([, {engines}]) => engines?.node !== undefined && !satisfies(oldest, engines.node),
)
for (const [path, {version, engines}] of refusing)
  process.stderr.write(`${path}@${version} asks for Node ${engines.node}; ${oldest} must do.\n`)
if (refusing.length > 0) process.exit(1)
process.stdout.write(`${Object.keys(packages).length} packages admit Node ${oldest}.\n`)
