"""Circles in the include graph: of headers, of units (a header with its .cc file), and of folders."""


def components(graph):
    """The strongly connected components with more than one node (Tarjan's algorithm, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(graph[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, successors = work[-1]
            following = next((s for s in successors if s in graph and (s not in index or s in on_stack)), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    if len(component) > 1:
                        found.append(sorted(component))
            elif following in index:
                low[node] = min(low[node], index[following])
            else:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(graph[following])))
    return sorted(found)


def include_graph(tree, name_of):
    """Edges between what `name_of` makes of the files; None leaves a file out."""
    graph = {}
    for file in tree.code(".cc", ".h", ".hpp"):
        name = name_of(file)
        if name is None:
            continue
        edges = graph.setdefault(name, set())
        edges.update(target for included in tree.included_files(file)
                     if (target := name_of(included)) not in (None, name))
    return {name: sorted(edges) for name, edges in sorted(graph.items())}


def headers(file):
    return str(file) if file.suffix != ".cc" else None


def units(file):
    return str(file.with_suffix("")) if file.parts[0] in ("daemon", "client") else None


def folders(file):
    return str(file.parent) if file.parts[0] in ("daemon", "client") else None
