import {type Client, repeatUntilStopped} from './client-context.js'

/** Wrong guesses per minute, below the number at which the server blocks an address. */
const guessesPerMinute = 6

/** Exchanges each bootstrap token repeatedly, before and after wrong guesses. */
export const newcomer: Client = async (context) => {
  const {random, call} = context
  let guessedAt: number[] = []
  let generation = -1
  await repeatUntilStopped(context, async () => {
    guessedAt = guessedAt.filter((at) => performance.now() - at < 60_000)
    const mayGuess = guessedAt.length < guessesPerMinute && (generation !== context.generation() || random.chance(0.2))
    if (mayGuess) {
      const guessed = context.generation()
      guessedAt.push(performance.now())
      const role = random.chance(0.5) ? 'garbage' : 'worker'
      const guess = await call({operation: 'bootstrap_exchange', shown: {role}})
      if (guess.status !== undefined) generation = guessed
    } else await call({operation: 'bootstrap_exchange', body: {node_id: 'newcomer'}})
    await context.pause(random.integer(50, 500))
  })
}
