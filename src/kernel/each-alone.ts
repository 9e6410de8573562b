// Works off a list of which no part may keep the others from their turn: all are tried, and what failed is thrown at the end.
export async function eachAlone<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) {
    await work(item).catch((error: unknown) => {
      failures.push(error)
    })
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures)
}
