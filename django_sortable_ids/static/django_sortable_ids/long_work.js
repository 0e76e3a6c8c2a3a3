// Replaces the page's list while something runs. Without script, the page reloads as a whole.
(() => {
  const id = "sortable-ids-work";

  const isUsed = (list) => {
    const selected = getSelection();
    return (
      list.contains(document.activeElement) ||
      (!selected.isCollapsed && selected.containsNode(list, true))
    );
  };

  const refresh = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, { redirect: "error" });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const list = page.getElementById(id);
        const shown = document.getElementById(id);
        if (answer.ok && list && !isUsed(shown)) shown.replaceWith(list);
      } catch {
        // The server is away for a moment, or the user was logged out: the list stays.
      }
    }
    wait();
  };

  const wait = () => {
    const { seconds } = document.getElementById(id).dataset;
    if (seconds) setTimeout(refresh, seconds * 1000);
  };

  wait();
})();
