/** No row of a table: the result of a failed search, and the end of a linked list. */
export const none = -1;
