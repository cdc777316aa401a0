#!/usr/bin/env bash
# The MCP SDK for TypeScript does not answer a request that has a member that JSON-RPC does not define.
#
# Versions: @modelcontextprotocol/server 2.4.0, transport over stdio.
#
# Seen: `{"jsonrpc":"2.0","id":2,"method":"ping","trace":"abc"}` gets neither a result nor an error, so its client waits
# until its own timeout. The same request without `trace` is answered. JSON-RPC 2.0 does not forbid further members, and
# proxies add some, for instance to follow a request through several programs.
#
# Cause: the transport parses each line with a strict schema. A line that does not match is reported to `onerror` of the
# server only, and its id is not read.
#
# Consequence: a client over stdio must put its own data into `params._meta`; a server that must answer every request has to
# look at the lines before the SDK does.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0

cat >server.mjs <<'EOF'
import {McpServer} from '@modelcontextprotocol/server'
import {StdioServerTransport} from '@modelcontextprotocol/server/stdio'
await new McpServer({name: 'plain', version: '1.0.0'}).connect(new StdioServerTransport())
EOF
cat >client.mjs <<'EOF'
import {spawn} from 'node:child_process'
import {createInterface} from 'node:readline'
const server = spawn(process.execPath, ['server.mjs'], {stdio: ['pipe', 'pipe', 'inherit']})
const send = (message) => server.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`)
const clientInfo = {name: 'client', version: '1.0.0'}
send({id: 1, method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo}})
send({method: 'notifications/initialized'})
send({id: 2, method: 'ping', trace: 'abc'})
send({id: 3, method: 'ping', params: {_meta: {trace: 'abc'}}})
// The server answers in order and ends when its input ends.
server.stdin.end()
const answered = []
for await (const line of createInterface({input: server.stdout})) answered.push(JSON.parse(line).id)
console.log(answered.join(', '))
EOF

seen=$(node client.mjs)
echo "Requests that were answered: $seen"
if [ "$seen" = '1, 3' ]; then
  echo 'As described.'
else
  echo 'Not as described.'
  exit 1
fi
