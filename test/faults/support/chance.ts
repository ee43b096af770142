/** Chance that can be had again: the seed is printed, and taken from HOLDPOINT_TEST_SEED when that is set. */
export interface Chance {
  seed: number
  /** A whole number from 0 to `below - 1`. */
  below(below: number): number
}

export function chance(): Chance {
  const seed = Number(process.env.HOLDPOINT_TEST_SEED ?? Date.now() % 1_000_000)
  console.log(`chance has the seed ${seed}; HOLDPOINT_TEST_SEED=${seed} has it again`)
  let state = seed
  return {
    seed,
    below(below) {
      // A linear congruential generator, with the constants of Numerical Recipes: no need for more here.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    },
  }
}
