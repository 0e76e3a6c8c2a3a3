"""What is known of an id as text, as a document for programs, and as a picture."""
