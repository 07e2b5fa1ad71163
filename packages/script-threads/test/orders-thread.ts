import { runProgram } from '@addon-operator/script-threads/worker-thread';

type Count = (orders: readonly number[]) => number | Promise<number>;

/** The program of threads: each file has one function as its default export, which is run with the orders as JSON. */
runProgram<Count>({
  definitionOf: (exported) => {
    if (typeof exported === 'function') return exported as Count;
    throw new Error('the default export must be a function');
  },
  describe: ({ name }) => JSON.stringify({ name }),
  work: async (count, request, { print }) => {
    if (request.type !== 'run') throw new Error(`there is no method ${request.method}`);
    const { orders = '[]' } = request.inputs;
    print(`counts with the tax ${request.keptInputs['tax']}`);
    const total = await count(JSON.parse(orders) as readonly number[]);
    return { type: 'done', outputs: { total: String(total) } };
  },
});
