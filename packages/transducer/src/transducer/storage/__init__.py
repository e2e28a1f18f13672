"""What is kept on disk: model directories, their cards, caches."""
