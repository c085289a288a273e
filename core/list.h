// SPDX-License-Identifier: BSD-2-Clause
// Intrusive doubly linked list. An empty head points to itself; a node outside any list is zeroed
// or points to itself. Not thread-safe: the owner of the head owns every node.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

// True if the node is in a list.
static inline bool list_linked(const struct list *n)
{
	return n->next && n->next != n;
}

static inline void list_insert_before(struct list *pos, struct list *n)
{
	n->prev = pos->prev;
	n->next = pos;
	pos->prev->next = n;
	pos->prev = n;
}

static inline void list_push_back(struct list *head, struct list *n)
{
	list_insert_before(head, n);
}

static inline void list_push_front(struct list *head, struct list *n)
{
	list_insert_before(head->next, n);
}

// Safe on a node that is in no list.
static inline void list_remove(struct list *n)
{
	if (n->next) {
		n->prev->next = n->next;
		n->next->prev = n->prev;
	}
	list_init(n);
}

// First node, or NULL. The node stays in the list.
static inline struct list *list_first(const struct list *head)
{
	return list_empty(head) ? NULL : head->next;
}

static inline struct list *list_pop_front(struct list *head)
{
	struct list *n = list_first(head);
	if (n)
		list_remove(n);
	return n;
}

// Moves every node of from to the end of to; from is empty afterwards.
static inline void list_splice_back(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_for_each(it, head)	      for (struct list *it = (head)->next; it != (head); it = it->next)
#define list_for_each_safe(it, head)                                                               \
	for (struct list *it = (head)->next, *it##_next = it->next; it != (head);                  \
	     it = it##_next, it##_next = it->next)

// The same over the objects of a list: type *it, in whose member it is linked. In the safe form it
// may be removed meanwhile.
#define list_each(type, it, head, member)                                                          \
	for (type *it = list_entry((head)->next, type, member); &it->member != (head);             \
	     it = list_entry(it->member.next, type, member))
#define list_each_safe(type, it, head, member)                                                     \
	for (type *it = list_entry((head)->next, type, member),                                    \
		  *it##_next = list_entry(it->member.next, type, member);                          \
	     &it->member != (head);                                                                \
	     it = it##_next, it##_next = list_entry(it->member.next, type, member))
