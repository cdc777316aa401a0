// Transcribes audio files: node examples/api/speech.mjs MODEL FILE...
import {openTranscriber} from 'svc-toolkit/speech'

const [model, ...files] = process.argv.slice(2)
if (model === undefined || files.length === 0) {
  process.stderr.write('usage: node examples/api/speech.mjs MODEL FILE...\n')
  process.exit(2)
}

const transcriber = openTranscriber(model)
for (const path of files) {
  const {transcript} = await transcriber.transcribe({path})
  process.stdout.write(`${transcript.text}\n`)
}
await transcriber.close()
