/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A red-black tree of numbers. A red node has black children, and each way down has as many black
 * nodes. Nodes are in an array; number 0 stands for no node, and is black.
 */
#ifndef SGLIB_COMBINED_TREE_H
#define SGLIB_COMBINED_TREE_H

#include "repeated.h"

#define TREE_NODES 512

struct node {
	uint32_t number;
	uint16_t parent, child[2];
	bool is_red;
};

static struct node nodes[TREE_NODES];
static uint16_t root, nodes_used;

static void tree_clear(void)
{
	nodes[0] = (struct node){ 0 };
	root = 0;
	nodes_used = 0;
}

static int side(uint16_t node)
{
	return nodes[nodes[node].parent].child[1] == node;
}

/* Puts a node, or none, into the place of another one. */
static void replace(uint16_t old, uint16_t new)
{
	uint16_t parent = nodes[old].parent;

	if (parent)
		nodes[parent].child[side(old)] = new;
	else
		root = new;
	nodes[new].parent = parent;
}

/* A node goes down to that side, and its other child up. */
static void rotate(uint16_t node, int to)
{
	uint16_t child = nodes[node].child[!to], inner = nodes[child].child[to];

	replace(node, child);
	nodes[node].child[!to] = inner;
	if (inner)
		nodes[inner].parent = node;
	nodes[child].child[to] = node;
	nodes[node].parent = child;
}

static uint16_t tree_find(uint32_t number)
{
	uint16_t node = root;

	while (node && nodes[node].number != number)
		node = nodes[node].child[number > nodes[node].number];
	return node;
}

static bool tree_has(uint32_t number)
{
	return tree_find(number) != 0;
}

/* Ends that a red node has a red parent. */
static void mend_red(uint16_t node)
{
	while (nodes[nodes[node].parent].is_red) {
		uint16_t parent = nodes[node].parent, above = nodes[parent].parent;
		int at = side(parent);
		uint16_t uncle = nodes[above].child[!at];

		if (nodes[uncle].is_red) {
			nodes[parent].is_red = nodes[uncle].is_red = false;
			nodes[above].is_red = true;
			node = above;
			continue;
		}
		if (side(node) != at) {
			rotate(parent, at);
			node = parent;
			parent = nodes[node].parent;
		}
		nodes[parent].is_red = false;
		nodes[above].is_red = true;
		rotate(above, !at);
	}
	nodes[root].is_red = false;
}

/* The number is not there yet, and there is room. */
static void tree_insert(uint32_t number)
{
	uint16_t new = ++nodes_used, parent = 0, node = root;

	while (node) {
		parent = node;
		node = nodes[node].child[number > nodes[node].number];
	}
	nodes[new] = (struct node){ .number = number, .parent = parent, .is_red = true };
	if (parent)
		nodes[parent].child[number > nodes[parent].number] = new;
	else
		root = new;
	mend_red(new);
}

/* Ends that the ways through a node have a black one too few. */
static void mend_black(uint16_t node)
{
	while (node != root && !nodes[node].is_red) {
		uint16_t parent = nodes[node].parent;
		/* No node may be either child; a missing one's sibling is there. */
		int at = nodes[parent].child[1] == node;
		uint16_t sibling = nodes[parent].child[!at];

		if (nodes[sibling].is_red) {
			nodes[sibling].is_red = false;
			nodes[parent].is_red = true;
			rotate(parent, at);
			sibling = nodes[parent].child[!at];
		}
		if (!nodes[nodes[sibling].child[0]].is_red &&
		    !nodes[nodes[sibling].child[1]].is_red) {
			nodes[sibling].is_red = true;
			node = parent;
			continue;
		}
		if (!nodes[nodes[sibling].child[!at]].is_red) {
			nodes[nodes[sibling].child[at]].is_red = false;
			nodes[sibling].is_red = true;
			rotate(sibling, !at);
			sibling = nodes[parent].child[!at];
		}
		nodes[sibling].is_red = nodes[parent].is_red;
		nodes[parent].is_red = false;
		nodes[nodes[sibling].child[!at]].is_red = false;
		rotate(parent, at);
		node = root;
	}
	nodes[node].is_red = false;
}

/* Removes a node; one with two children has the next number's node in its place. */
static bool tree_remove(uint32_t number)
{
	uint16_t node = tree_find(number), next, child;
	bool was_red;

	if (!node)
		return false;
	next = node;
	if (nodes[node].child[0] && nodes[node].child[1]) {
		next = nodes[node].child[1];
		while (nodes[next].child[0])
			next = nodes[next].child[0];
	}
	nodes[node].number = nodes[next].number;
	child = nodes[next].child[0] ? nodes[next].child[0] : nodes[next].child[1];
	was_red = nodes[next].is_red;
	replace(next, child);
	if (!was_red)
		mend_black(child);
	return true;
}

/* How many black nodes each way has; -1 if they differ or a rule is broken. */
static int tree_height(uint16_t node, uint32_t from, uint32_t to)
{
	const struct node *it = nodes + node;
	int left, right;

	if (!node)
		return 0;
	if (it->number < from || it->number > to)
		return -1;
	if (it->is_red && (nodes[it->child[0]].is_red || nodes[it->child[1]].is_red))
		return -1;
	left = tree_height(it->child[0], from, it->number - 1);
	right = tree_height(it->child[1], it->number + 1, to);
	return left < 0 || left != right ? -1 : left + !it->is_red;
}

static bool tree_is_right(void)
{
	return !nodes[root].is_red && tree_height(root, 0, UINT32_MAX) >= 0;
}

static uint64_t tree_mix_from(uint16_t node, uint64_t sum)
{
	if (!node)
		return sum;
	sum = tree_mix_from(nodes[node].child[0], sum);
	sum = mix(sum, nodes[node].number << 1 | nodes[node].is_red);
	return tree_mix_from(nodes[node].child[1], sum);
}

/* Adds all numbers in their order. */
static uint64_t tree_mix(uint64_t sum)
{
	return tree_mix_from(root, sum);
}

#endif
