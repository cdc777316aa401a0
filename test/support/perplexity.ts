import type {Decoder} from '../../src/llm/decoder.js'
import type {LanguageModel} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'

/** Stories of the kind that the model stories260K was trained with, but not from its training text. */
export const stories = [
  `Tom had a small green boat. Every day he took it to the pond near his house. One morning the wind was very strong.
The boat went far away, and Tom could not reach it. He was sad and started to cry. A kind duck saw him and asked, "Why are you
sad?" Tom said, "My boat is lost." The duck smiled and swam across the water. It pushed the boat back to Tom. Tom was so happy!
He said, "Thank you, duck." He gave the duck some bread. From that day on, Tom and the duck were good friends. They played
together at the pond, and the boat was never lost again.`,
  `Lucy had a red kite. She wanted to fly it, but there was no wind. Her dad said, "Let us wait." They sat on the grass and
ate apples. Soon the leaves began to move. Lucy ran fast and the kite went up, up, up into the sky. A bird came and looked at
the kite. "Hello, bird!" said Lucy. The bird sang a song. When the sun went down, Lucy and her dad walked home. Lucy was tired
but very happy.`,
  `Once there was a little bear named Max. Max liked honey, but his mom said he must share it with his sister. Max did not
want to share. He hid the jar under his bed. At night the jar broke and the honey went all over the floor. Max was sad. His
sister came and helped him clean. Max said, "I am sorry. Next time I will share with you." His sister gave him a hug, and they
went to sleep.`,
  `Ben and Mia were at the beach. They made a big castle with sand and water. Mia put a shell on the top. Then a big wave
came and the castle was gone. Ben began to cry. Mia said, "Do not be sad, Ben. We can make a new one." They worked together and
made a better castle, far from the water. Mom took a picture of them. They smiled and went to get ice cream.`,
]

/** The tokens of a text. */
export const tokensOf = (model: LanguageModel, text: string): number[] =>
  model.encode({prompt: {kind: 'raw', text}, maxTokens: 1, stop: [], sampling: defaultSampling})

/** Texts that a model generates without truncated sampling, so that their distribution is its own. */
export async function generatedTokens(model: LanguageModel, count: number): Promise<number[][]> {
  const texts = Array.from({length: count}, async (_, i) => {
    const sampling = {...defaultSampling, temperature: 1, topK: 0, topP: 1, seed: i + 1}
    let text = ''
    for await (const event of model.generate({prompt: {kind: 'beginning'}, maxTokens: 400, stop: [], sampling}))
      if (event.type === 'text') text += event.text
    return tokensOf(model, text).slice(0, 480)
  })
  return (await Promise.all(texts)).filter(({length}) => length > 10)
}

/** Perplexity of a model for sequences of tokens. */
export async function perplexityOf(decoder: Decoder, sequences: readonly (readonly number[])[]): Promise<number> {
  let [sum, count] = [0, 0]
  for (const sequence of sequences) {
    const cache = decoder.newCache()
    const predictions = await decoder.prefill(cache, cache.add(), sequence, {predict: 'all'})
    for (const [i, next] of sequence.slice(1).entries()) {
      const row = predictions[i]?.logits as Float32Array
      const largest = row.reduce((most, value) => Math.max(most, value))
      const total = row.reduce((all, value) => all + Math.exp(value - largest), 0)
      sum += largest + Math.log(total) - (row[next] as number)
      count++
    }
  }
  return Math.exp(sum / count)
}
